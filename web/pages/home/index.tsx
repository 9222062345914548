// The start: the first visit's welcome, else the most recent session, else a page that teaches.

import { Navigate } from "@solidjs/router";
import { createEffect, createSignal, type JSX, Match, Suspense, Switch } from "solid-js";
import { lazyPart } from "../../components/lazy-part.tsx";
import { usePageTools } from "../../state/page-tools.ts";
import { lostWords } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { Frame } from "../frame/index.tsx";
import { PartMissing } from "../frame/part-missing.tsx";

const Welcome = lazyPart(() => import("./welcome.tsx"), PartMissing);

export default function HomePage() {
  const workbench = useWorkbench();
  const { preferences } = usePageTools();
  const [isWelcomed, setIsWelcomed] = createSignal(preferences.get("welcomed") !== null);
  const kind = () => workbench.connection().kind;
  // While a first catch-up runs, "most recent" is still changing.
  const latest = () =>
    kind() === "catching-up" ? undefined : workbench.sessions().find(({ archived }) => !archived);
  const mayWelcome = () => !isWelcomed() && workbench.sessions().length === 0;
  const finishWelcome = () => {
    preferences.set("welcomed", "yes");
    setIsWelcomed(true);
  };
  createEffect(() => {
    document.title = "Troupe";
  });
  return (
    <Switch
      fallback={<Frame currentId={null}>{(menuButton) => <Empty menuButton={menuButton} />}</Frame>}
    >
      <Match when={latest()}>{(session) => <Navigate href={`/s/${session().id}`} />}</Match>
      <Match when={kind() === "live" && !workbench.isViewer() && mayWelcome()}>
        <Suspense>
          <Welcome onDone={finishWelcome} />
        </Suspense>
      </Match>
    </Switch>
  );
}

function Empty(props: { menuButton: () => JSX.Element }) {
  const workbench = useWorkbench();
  const { dialogs } = usePageTools();
  const lost = () => {
    const state = workbench.connection();
    return state.kind === "offline" ? state.because : null;
  };
  return (
    <>
      <header class="bar">{props.menuButton()}</header>
      <div class="empty">
        <Switch
          fallback={
            <p class="quiet" role="status">
              {workbench.connection().kind === "catching-up"
                ? "The sessions are on their way."
                : "Connecting to the daemon…"}
            </p>
          }
        >
          <Match when={workbench.connection().kind === "live" && workbench.isViewer()}>
            <h1 class="lede">Nothing is shared with this browser</h1>
            <p class="muted">
              What was shared was taken back, has expired, or was deleted. Whoever shared it can
              make a new link.
            </p>
          </Match>
          <Match when={workbench.connection().kind === "live"}>
            <h1 class="lede">Ask about a folder</h1>
            <p class="muted">
              A session works in one folder of the daemon's machine: it reads, searches and answers
              there. Start one and ask what is in it.
            </p>
            <button
              type="button"
              class="btn primary"
              onClick={() => dialogs.open({ kind: "new-session" })}
            >
              New session
            </button>
          </Match>
          <Match when={lost()}>
            {(because) => (
              <>
                <h1 class="lede">Offline</h1>
                <p class="muted">
                  No session is on this device yet, and {lostWords(because())}. This page tries
                  again by itself.
                </p>
              </>
            )}
          </Match>
        </Switch>
      </div>
    </>
  );
}
