// Why there is nothing to show of a session.

import { A } from "@solidjs/router";
import { type JSX, Match, Show, Switch } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import { lostWords } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";

/** Not in the replica: never made, out of reach, or gone. */
export default function Absent(props: {
  menuButton: () => JSX.Element;
  /** Null: the address names no session that there could be. */
  sessionId: SessionId | null;
}) {
  const workbench = useWorkbench();
  const connection = workbench.connection;
  const isUnmade = () =>
    workbench
      .refusals()
      .some(
        ({ sessionId, error }) => sessionId === props.sessionId && error.code !== "session_gone",
      );
  return (
    <Switch>
      <Match when={props.sessionId !== null && isUnmade()}>
        <Nothing
          menuButton={props.menuButton}
          title="This session was not started"
          text="The daemon refused to start it. Why, and what you wrote, is in the notice on this page."
        />
      </Match>
      <Match when={props.sessionId === null || connection().kind === "live"}>
        <Gone menuButton={props.menuButton} />
      </Match>
      <Match when={lost()}>
        {(because) => (
          <Nothing
            menuButton={props.menuButton}
            title="This session is not on this device"
            text={`It shows as soon as there is a connection. Right now, ${lostWords(because())}.`}
          />
        )}
      </Match>
    </Switch>
  );

  function lost() {
    const state = connection();
    return state.kind === "offline" ? state.because : null;
  }
}

function Gone(props: { menuButton: () => JSX.Element }) {
  const workbench = useWorkbench();
  return (
    <Show
      when={workbench.isViewer()}
      fallback={
        <Nothing
          menuButton={props.menuButton}
          title="There is no such session"
          text="It was deleted, or the link is from another daemon."
        />
      }
    >
      <Nothing
        menuButton={props.menuButton}
        title="This session is not shared with you"
        text="It was taken back, has expired, or was deleted. Whoever shared it can make a new link."
      />
    </Show>
  );
}

function Nothing(props: { menuButton: () => JSX.Element; title: string; text: string }) {
  return (
    <>
      <header class="bar">{props.menuButton()}</header>
      <div class="empty">
        <h1 class="lede">{props.title}</h1>
        <p class="muted">{props.text}</p>
        <A class="btn" href="/">
          Go to the latest session
        </A>
      </div>
    </>
  );
}
