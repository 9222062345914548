// One text of a turn: its answer, or its reasoning.

import { createSignal, Show } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import type { TurnRow } from "../../../shared/protocol/rows.ts";
import { Prose, type ShowProse } from "../../components/prose.tsx";
import { Reasoning } from "../../components/reasoning.tsx";
import { showPart } from "../../state/documents.ts";
import { useWorkbench } from "../../state/workbench.ts";

interface PartProps {
  sessionId: SessionId;
  turnId: number;
  turn: TurnRow;
}

function createPart(props: PartProps, part: "answer" | "reasoning") {
  const workbench = useWorkbench();
  const [isMissing, setIsMissing] = createSignal(false);
  const show: ShowProse = (listener) =>
    showPart(
      workbench.client,
      {
        sessionId: props.sessionId,
        turnId: props.turnId,
        part,
        body: () => (props.turn.state === "streaming" ? null : props.turn[part]),
        isOnline: () => workbench.connection().kind === "live",
        onMissing: setIsMissing,
      },
      listener,
    );
  return { show, isMissing };
}

export function Answer(props: PartProps) {
  const { show, isMissing } = createPart(props, "answer");
  return (
    <>
      <Prose show={show} />
      <Show when={isMissing()}>
        <p class="quiet">The rest of this answer is not on this device yet.</p>
      </Show>
    </>
  );
}

function thoughtWords(turn: TurnRow): string {
  if (turn.state === "streaming" && turn.reasoningMs === null) return "Thinking";
  if (turn.reasoningMs === null) return "Thought";
  const seconds = Math.max(1, Math.round(turn.reasoningMs / 1_000));
  return `Thought for ${seconds} s`;
}

export function Thought(props: PartProps) {
  const { show } = createPart(props, "reasoning");
  return (
    <Reasoning
      words={thoughtWords(props.turn)}
      isLive={props.turn.state === "streaming"}
      show={show}
    />
  );
}
