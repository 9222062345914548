// Around every page: refusals instead of it, dialogs and notices over it, and what is said aloud.

import type { RouteSectionProps } from "@solidjs/router";
import X from "lucide-solid/icons/x";
import { For, lazy, onCleanup, onMount, Show, Suspense } from "solid-js";
import { createFocusHeir } from "../../components/return-focus.ts";
import { usePageTools } from "../../state/page-tools.ts";
import { type Notice, useWorkbench } from "../../state/workbench.ts";

const RefusedPage = lazy(() => import("../refused/index.tsx"));
const OpenDialog = lazy(() => import("../dialogs/index.tsx"));

export function Shell(props: RouteSectionProps) {
  const workbench = useWorkbench();
  const { dialogs } = usePageTools();
  const refusal = () => {
    const state = workbench.connection();
    return state.kind === "refused" || state.kind === "changed-key" ? state : null;
  };
  onMount(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // By code: with Option held, macOS reports another key.
      if (!event.altKey || event.code !== "KeyN" || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      dialogs.open({ kind: "new-session" });
    };
    document.addEventListener("keydown", onKeyDown);
    onCleanup(() => document.removeEventListener("keydown", onKeyDown));
  });
  return (
    <>
      <Suspense>
        <Show when={refusal()} fallback={props.children}>
          {(state) => <RefusedPage state={state()} />}
        </Show>
      </Suspense>
      <Show when={refusal() === null && dialogs.current()}>
        {(dialog) => (
          <Suspense>
            <OpenDialog dialog={dialog()} onClose={dialogs.close} />
          </Suspense>
        )}
      </Show>
      <Notices />
      <div class="hidden" role="status">
        <Show when={workbench.announcement()} keyed>
          {({ text }) => <p>{text}</p>}
        </Show>
      </div>
    </>
  );
}

function Notices() {
  const workbench = useWorkbench();
  return (
    <div class="notices" role="alert">
      <For each={workbench.notices()}>
        {(notice) => <OneNotice notice={notice} onDismiss={() => workbench.dismiss(notice.id)} />}
      </For>
    </div>
  );
}

function OneNotice(props: { notice: Notice; onDismiss: () => void }) {
  let button: HTMLButtonElement | undefined;
  createFocusHeir(() => button);
  return (
    <div class="notice">
      <p>
        <b>{props.notice.what}</b> {props.notice.todo}
      </p>
      <button
        ref={button}
        type="button"
        class="icon-button"
        aria-label="Dismiss"
        onClick={props.onDismiss}
      >
        <X size={14} aria-hidden="true" />
      </button>
    </div>
  );
}
