// What happened, why, and the one or two things to do next.

import { For, Show } from "solid-js";
import { createFocusHeir } from "./return-focus.ts";

export interface CardAction {
  readonly label: string;
  readonly run: () => void;
}

export function ProblemCard(props: {
  tone: "bad" | "plain";
  what: string;
  todo?: string | undefined;
  detail?: string | undefined;
  actions: readonly CardAction[];
}) {
  let card: HTMLDivElement | undefined;
  createFocusHeir(() => card);
  return (
    <div ref={card} class={props.tone === "bad" ? "problem bad" : "problem"}>
      <p>
        <b>{props.what}</b> {props.todo}
      </p>
      <Show when={props.detail}>
        <p class="detail">{props.detail}</p>
      </Show>
      <Show when={props.actions.length > 0}>
        <div class="row">
          <For each={props.actions}>
            {(action, at) => (
              <button type="button" class={at() === 0 ? "btn primary" : "btn"} onClick={action.run}>
                {action.label}
              </button>
            )}
          </For>
        </div>
      </Show>
    </div>
  );
}
