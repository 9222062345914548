// Around every page: refusals instead of it, dialogs and notices over it, and what is said aloud.

import type { RouteSectionProps } from "@solidjs/router";
import { onCleanup, onMount, Show, Suspense } from "solid-js";
import { lazyPart, smallPart } from "../../components/lazy-part.tsx";
import { usePageTools } from "../../state/page-tools.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { PartMissing } from "./part-missing.tsx";

const RefusedPage = lazyPart(() => import("../refused/index.tsx"), PartMissing);
const OpenDialog = lazyPart(() => import("../dialogs/index.tsx"), PartMissing);
const Notices = smallPart(() => import("./notices.tsx"));

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
      if (!workbench.isViewer()) dialogs.open({ kind: "new-session" });
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
      <div class="notices" role="alert">
        <Show when={workbench.notices().length + workbench.refusals().length > 0}>
          <Notices />
        </Show>
      </div>
      <div class="hidden" role="status">
        <Show when={workbench.announcement()} keyed>
          {({ text }) => <p>{text}</p>}
        </Show>
      </div>
    </>
  );
}
