// The session page: title bar, transcript, composer; or why there is nothing to show.

import { A, useParams } from "@solidjs/router";
import { createEffect, createMemo, type JSX, Match, onCleanup, Show, Switch } from "solid-js";
import { ID_PATTERN, type SessionId } from "../../../shared/ids.ts";
import { listRequests } from "../../state/request-list.ts";
import { lostWords } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { Frame } from "../frame/index.tsx";
import { Composer } from "./composer.tsx";
import { TitleBar } from "./title-bar.tsx";
import { Transcript } from "./transcript.tsx";

type MenuButton = () => JSX.Element;

export default function SessionPage() {
  const params = useParams<{ id: string }>();
  const sessionId = () => (ID_PATTERN.test(params.id) ? (params.id as SessionId) : null);
  return (
    <Frame currentId={params.id}>
      {(menuButton) => (
        <Show when={sessionId()} keyed fallback={<Gone menuButton={menuButton} />}>
          {(id) => <SessionView sessionId={id} menuButton={menuButton} />}
        </Show>
      )}
    </Frame>
  );
}

function SessionView(props: { sessionId: SessionId; menuButton: MenuButton }) {
  const workbench = useWorkbench();
  const { sessionId } = props;
  workbench.open(sessionId);
  onCleanup(() => workbench.close(sessionId));

  const session = createMemo(() => workbench.sessions().find(({ id }) => id === sessionId));
  const row = () => workbench.rows.session[sessionId];
  const requests = createMemo(() => listRequests(workbench.rows.request[sessionId] ?? {}));
  const isOpened = () => workbench.opened(sessionId) !== null || workbench.isMaking(sessionId);
  let toEnd = () => {};

  createEffect(() => {
    document.title = `${session()?.title ?? "Session"} · Troupe`;
  });

  return (
    <Show when={isOpened()} fallback={<Opening menuButton={props.menuButton} />}>
      <Show when={session()} fallback={<Absent menuButton={props.menuButton} />}>
        {(listed) => (
          <>
            <TitleBar
              session={listed()}
              branch={row()?.branch ?? null}
              canUndo={requests().shown.length > 0 && listed().state !== "running"}
              canRedo={requests().undoneCount > 0}
              menuButton={props.menuButton}
            />
            <Transcript
              sessionId={sessionId}
              requests={requests()}
              onReady={(goToEnd) => {
                toEnd = goToEnd;
              }}
            />
            <Composer
              sessionId={sessionId}
              requests={requests()}
              isRunning={row()?.state === "running"}
              model={row()?.model ?? null}
              tokens={row()?.usage.outputTokens ?? 0}
              onSent={() => toEnd()}
            />
          </>
        )}
      </Show>
    </Show>
  );
}

function Opening(props: { menuButton: MenuButton }) {
  return (
    <>
      <header class="bar">{props.menuButton()}</header>
      <div class="empty" aria-busy="true" />
    </>
  );
}

/** Not in the replica: on its way, out of reach, or gone. */
function Absent(props: { menuButton: MenuButton }) {
  const workbench = useWorkbench();
  const connection = workbench.connection;
  return (
    <Switch
      fallback={
        <Nothing
          menuButton={props.menuButton}
          title="Looking for this session"
          text="It is not on this device yet. Asking the daemon for it."
        />
      }
    >
      <Match when={connection().kind === "live"}>
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

function Gone(props: { menuButton: MenuButton }) {
  return (
    <Nothing
      menuButton={props.menuButton}
      title="There is no such session"
      text="It was deleted, or the link is from another daemon."
    />
  );
}

function Nothing(props: { menuButton: MenuButton; title: string; text: string }) {
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
