// One tool call as one line: a sentence, and its outcome at the right edge. Opens to its output.

import Check from "lucide-solid/icons/check";
import CircleSlash from "lucide-solid/icons/circle-slash";
import X from "lucide-solid/icons/x";
import { createSignal, createUniqueId, type JSX, Match, Show, Switch } from "solid-js";
import { CodeText } from "./code-text.tsx";

export type ToolLineState = "waiting" | "running" | "done" | "failed" | "stopped";

const STATE_WORDS = {
  waiting: "Waiting",
  running: "Running",
  done: "Done",
  failed: "Failed",
  stopped: "Stopped",
} as const satisfies Record<ToolLineState, string>;

function StateMark(props: { state: ToolLineState }) {
  return (
    <span class={`mark ${props.state}`}>
      <Switch fallback={<i class="dot idle" aria-hidden="true" />}>
        <Match when={props.state === "done"}>
          <Check size={14} aria-hidden="true" />
        </Match>
        <Match when={props.state === "running"}>
          <i class="dot live" aria-hidden="true" />
        </Match>
        <Match when={props.state === "failed"}>
          <X size={14} aria-hidden="true" />
        </Match>
        <Match when={props.state === "stopped"}>
          <CircleSlash size={14} aria-hidden="true" />
        </Match>
      </Switch>
      <span class="hidden">{STATE_WORDS[props.state]}: </span>
    </span>
  );
}

export function ToolLine(props: {
  text: string;
  state: ToolLineState;
  /** The right edge: a note, a duration, or both. */
  outcome: string;
  /** Absent while there is nothing to open. */
  children?: (() => JSX.Element) | undefined;
}) {
  const [chosen, setChosen] = createSignal<boolean | null>(null);
  const bodyId = createUniqueId();
  const isOpen = () => props.children !== undefined && (chosen() ?? props.state === "failed");
  return (
    <div class="tool">
      <button
        type="button"
        class="step"
        aria-expanded={props.children ? isOpen() : undefined}
        aria-controls={isOpen() ? bodyId : undefined}
        disabled={!props.children}
        onClick={() => setChosen(!isOpen())}
      >
        <StateMark state={props.state} />
        <span class="what" classList={{ bad: props.state === "failed" }}>
          <CodeText text={props.text} />
        </span>
        <em>{props.outcome}</em>
      </button>
      <Show when={isOpen()}>
        <div id={bodyId}>{props.children?.()}</div>
      </Show>
    </div>
  );
}
