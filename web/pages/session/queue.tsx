// Prompts that wait for the running one, above the box they were written in.

import X from "lucide-solid/icons/x";
import { createMemo, For, Show } from "solid-js";
import type { RequestId, SessionId } from "../../../shared/ids.ts";
import { createFocusHeir } from "../../components/return-focus.ts";
import type { RequestEntry } from "../../state/request-list.ts";
import { counted } from "../../state/times.ts";
import { useWorkbench } from "../../state/workbench.ts";

/** More than these have to be scrolled to. */
const IN_SIGHT = 4;
/** Enough to tell one prompt from the others. */
const NAMED_CHARS = 60;

export default function Queue(props: { sessionId: SessionId; queued: readonly RequestEntry[] }) {
  const workbench = useWorkbench();
  const ids = createMemo(() => props.queued.map(([id]) => id));
  const textOf = (requestId: RequestId) =>
    props.queued.find(([id]) => id === requestId)?.[1].text.head ?? "";
  return (
    <>
      <Show when={ids().length > IN_SIGHT}>
        <p class="quiet">{counted(ids().length, "prompt")} queued</p>
      </Show>
      <ul class="queue" aria-label="Queued prompts">
        <For each={ids()}>
          {(requestId) => (
            <Queued
              text={textOf(requestId)}
              canRemove={!workbench.isViewer()}
              onRemove={() =>
                workbench.run("session.stop", { sessionId: props.sessionId, requestId })
              }
            />
          )}
        </For>
      </ul>
    </>
  );
}

function Queued(props: { text: string; canRemove: boolean; onRemove: () => void }) {
  let item: HTMLLIElement | undefined;
  createFocusHeir(() => item);
  return (
    <li ref={item}>
      <span class="quiet">Queued</span>
      <span class="queued-text" dir="auto" title={props.text}>
        {props.text}
      </span>
      <Show when={props.canRemove}>
        <button
          type="button"
          class="icon-button"
          aria-label={`Remove from the queue: ${props.text.slice(0, NAMED_CHARS)}`}
          onClick={props.onRemove}
        >
          <X size={14} aria-hidden="true" />
        </button>
      </Show>
    </li>
  );
}
