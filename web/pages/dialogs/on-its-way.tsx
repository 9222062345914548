// What this browser has still to send, or sent and has no answer to. What waits can be removed.

import { createMemo, For, Show } from "solid-js";
import type { CommandMethod } from "../../../shared/protocol/methods.ts";
import { createFocusHeir } from "../../components/return-focus.ts";
import { type Errand, listErrands } from "../../state/errands.ts";
import { receiptWords } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { Modal } from "./modal.tsx";

const METHOD_WORDS = {
  "session.create": "New session",
  "session.rename": "New name",
  "session.pin": "Pin or unpin",
  "session.archive": "Archive or take out",
  "session.delete": "Delete",
  "session.prompt": "Prompt",
  "session.stop": "Stop",
  "session.continue": "Continue",
  "session.undo": "Undo",
  "session.redo": "Redo",
  "share.create": "Share link",
  "share.revoke": "Take back a share link",
  "device.rename": "New name of a device",
  "device.revoke": "Revoke a device",
} as const satisfies Record<CommandMethod, string>;

export default function OnItsWay(props: { onClose: () => void }) {
  const workbench = useWorkbench();
  const errands = createMemo(() => {
    const { session } = workbench.rows;
    // What waits is laid over the list: a new name would show as the old one too.
    const listed = new Map<string, string>(
      workbench.sessions().map(({ id, title }) => [id, title]),
    );
    const titleOf = (id: string) => session[id]?.title ?? listed.get(id);
    const list = listErrands(workbench.outbox(), titleOf);
    return new Map(list.map((errand) => [errand.id, errand]));
  });
  const ids = createMemo(() => [...errands().keys()]);
  return (
    <Modal title="On its way" onClose={props.onClose}>
      <Show when={ids().length > 0} fallback={<p class="muted">Everything was sent.</p>}>
        <ul class="shares">
          <For each={ids()}>
            {(id) => (
              <Show when={errands().get(id)}>
                {(errand) => (
                  <OneErrand errand={errand()} onRemove={() => workbench.withdraw(id)} />
                )}
              </Show>
            )}
          </For>
        </ul>
      </Show>
    </Modal>
  );
}

function OneErrand(props: { errand: Errand; onRemove: () => void }) {
  const workbench = useWorkbench();
  let item: HTMLLIElement | undefined;
  createFocusHeir(
    () => item,
    () => document.querySelector<HTMLElement>(".dialog button")?.focus(),
  );
  const what = () => METHOD_WORDS[props.errand.method];
  const about = () =>
    [props.errand.text, props.errand.session].filter((words) => words !== null).join(" · ");
  return (
    <li ref={item}>
      <span>
        {what()}
        <small class="errand" dir="auto">
          {about()}
        </small>
        <small class="quiet">{receiptWords(props.errand.state, workbench.connection())}</small>
      </span>
      <Show when={props.errand.state === "waiting"}>
        <button type="button" class="btn" aria-label={`Remove: ${what()}`} onClick={props.onRemove}>
          Remove
        </button>
      </Show>
    </li>
  );
}
