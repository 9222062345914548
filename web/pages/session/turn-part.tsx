// One text of a turn: its answer, or its reasoning.

import { createSignal, Show } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import type { TurnRow } from "../../../shared/protocol/rows.ts";
import { Prose, type ShowProse } from "../../components/prose.tsx";
import { Reasoning } from "../../components/reasoning.tsx";
import { showPart } from "../../state/documents.ts";
import { missingTextWords } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";

interface PartProps {
  sessionId: SessionId;
  turnId: number;
  turn: TurnRow;
  /** How many blocks of it are on screen. */
  onBlocks: (count: number) => void;
}

function createPart(props: PartProps, part: "answer" | "reasoning") {
  const workbench = useWorkbench();
  const [missing, setMissing] = createSignal<string | null>(null);
  const show: ShowProse = (listener) =>
    showPart(
      workbench.client,
      {
        sessionId: props.sessionId,
        turnId: props.turnId,
        part,
        body: () => (props.turn.state === "streaming" ? null : props.turn[part]),
        isOnline: () => workbench.connection().kind === "live",
        onMissing: (error) => setMissing(error === null ? null : missingTextWords(error)),
      },
      listener,
    );
  return { show, missing };
}

export function Answer(props: PartProps) {
  const { show, missing } = createPart(props, "answer");
  return (
    <>
      <Prose show={show} onBlocks={props.onBlocks} />
      <Show when={missing()}>{(words) => <p class="quiet">{words()}</p>}</Show>
    </>
  );
}

function thoughtWords(turn: TurnRow, isLive: boolean): string {
  if (isLive) return "Thinking";
  if (turn.reasoningMs === null) return "Thought";
  const seconds = Math.max(1, Math.round(turn.reasoningMs / 1_000));
  return `Thought for ${seconds} s`;
}

/** The turn's row says only at its end how long it thought; its answer says that it is past. */
export function Thought(props: PartProps & { hasAnswerBegun: boolean }) {
  const { show } = createPart(props, "reasoning");
  const isLive = () => props.turn.state === "streaming" && !props.hasAnswerBegun;
  return (
    <Reasoning
      words={thoughtWords(props.turn, isLive())}
      isLive={isLive()}
      mayBeEmpty={props.turn.state === "streaming"}
      show={show}
      onBlocks={props.onBlocks}
    />
  );
}
