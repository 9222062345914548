// One text of a turn: its answer, or its reasoning.

import { createSignal, Show } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import type { TurnRow } from "../../../shared/protocol/rows.ts";
import { smallPart } from "../../components/lazy-part.tsx";
import { Prose, type ShowProse } from "../../components/prose.tsx";
import { Reasoning } from "../../components/reasoning.tsx";
import { showPart } from "../../state/documents.ts";
import { useWorkbench } from "../../state/workbench.ts";

const ProblemText = smallPart(() => import("./problem-text.tsx"));

interface PartProps {
  sessionId: SessionId;
  turnId: number;
  turn: TurnRow;
  /** How many blocks of it are on screen. */
  onBlocks: (count: number) => void;
}

function createPart(props: PartProps, part: "answer" | "reasoning") {
  const workbench = useWorkbench();
  // In a box: any value may have been thrown.
  const [missing, setMissing] = createSignal<{ error: unknown } | null>(null);
  const show: ShowProse = (listener) =>
    showPart(
      workbench.client,
      {
        sessionId: props.sessionId,
        turnId: props.turnId,
        part,
        body: () => (props.turn.state === "streaming" ? null : props.turn[part]),
        isOnline: () => workbench.connection().kind === "live",
        onMissing: (error) => setMissing(error === null ? null : { error }),
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
      <Show when={missing()}>
        {(problem) => (
          <p class="quiet">
            <ProblemText error={problem().error} isPart />
          </p>
        )}
      </Show>
    </>
  );
}

function thoughtWords(turn: TurnRow, isLive: boolean, isCutOff: boolean): string {
  if (isLive) return isCutOff ? "Was thinking" : "Thinking";
  if (turn.reasoningMs === null) return "Thought";
  const seconds = Math.max(1, Math.round(turn.reasoningMs / 1_000));
  return `Thought for ${seconds} s`;
}

/** The turn's row says only at its end how long it thought; its answer says that it is past. */
export function Thought(props: PartProps & { hasAnswerBegun: boolean }) {
  const { show } = createPart(props, "reasoning");
  const { isCutOff } = useWorkbench();
  const isLive = () => props.turn.state === "streaming" && !props.hasAnswerBegun;
  return (
    <Reasoning
      words={thoughtWords(props.turn, isLive(), isCutOff())}
      isLive={isLive()}
      mayBeEmpty={props.turn.state === "streaming"}
      show={show}
      onBlocks={props.onBlocks}
    />
  );
}
