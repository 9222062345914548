// Around every page: refusals instead of it, dialogs and notices over it, and what is said aloud.

import type { RouteSectionProps } from "@solidjs/router";
import X from "lucide-solid/icons/x";
import { For, lazy, onCleanup, onMount, Show, Suspense } from "solid-js";
import { usePageTools } from "../../state/page-tools.ts";
import { useWorkbench } from "../../state/workbench.ts";

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
      <div class="hidden" role="status" aria-live="polite">
        {workbench.announcement()}
      </div>
    </>
  );
}

function Notices() {
  const workbench = useWorkbench();
  return (
    <div class="notices" role="alert">
      <For each={workbench.notices()}>
        {(notice) => (
          <div class="notice">
            <p>
              <b>{notice.what}</b> {notice.todo}
            </p>
            <button
              type="button"
              class="icon-button"
              aria-label="Dismiss"
              onClick={() => workbench.dismiss(notice.id)}
            >
              <X size={14} aria-hidden="true" />
            </button>
          </div>
        )}
      </For>
    </div>
  );
}
