// The session page: title bar, transcript, composer; or why there is nothing to show.

import { useParams } from "@solidjs/router";
import { createEffect, createMemo, type JSX, onCleanup, Show } from "solid-js";
import { ID_PATTERN, type SessionId } from "../../../shared/ids.ts";
import { smallPart } from "../../components/lazy-part.tsx";
import { createLook } from "../../state/look.ts";
import { listRequests } from "../../state/request-list.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { Frame } from "../frame/index.tsx";
import { Composer } from "./composer.tsx";
import { TitleBar } from "./title-bar.tsx";
import { Transcript } from "./transcript.tsx";

const Absent = smallPart(() => import("./absent.tsx"));
const ReadOnly = smallPart(() => import("./read-only.tsx"));

type MenuButton = () => JSX.Element;

export default function SessionPage() {
  const params = useParams<{ id: string }>();
  const sessionId = () => (ID_PATTERN.test(params.id) ? (params.id as SessionId) : null);
  return (
    <Frame currentId={params.id}>
      {(menuButton) => (
        <Show
          when={sessionId()}
          keyed
          fallback={<Absent menuButton={menuButton} sessionId={null} />}
        >
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
  /** Neither out of reach nor told that there is none. */
  const isAsking = () => !["live", "offline"].includes(workbench.connection().kind);
  let toEnd = () => {};
  let putInBox = (_text: string) => {};
  createLook(workbench.client, sessionId);

  createEffect(() => {
    document.title = `${session()?.title ?? "Session"} · Troupe`;
  });

  return (
    <Show when={isOpened()} fallback={<Opening menuButton={props.menuButton} />}>
      <Show
        when={session()}
        fallback={
          <Show
            when={isAsking()}
            fallback={<Absent menuButton={props.menuButton} sessionId={sessionId} />}
          >
            <Opening menuButton={props.menuButton}>
              <h1 class="lede">Looking for this session</h1>
              <p class="muted">It is not on this device yet. Asking the daemon for it.</p>
            </Opening>
          </Show>
        }
      >
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
              onUnused={(text) => putInBox(text)}
            />
            <Show
              when={!workbench.isViewer()}
              fallback={<ReadOnly sessionId={sessionId} queued={requests().queued} />}
            >
              <Composer
                sessionId={sessionId}
                requests={requests()}
                isRunning={row()?.state === "running"}
                model={row()?.model ?? null}
                tokens={row()?.usage.outputTokens ?? 0}
                onSent={() => toEnd()}
                onReady={(take) => {
                  putInBox = take;
                }}
              />
            </Show>
          </>
        )}
      </Show>
    </Show>
  );
}

function Opening(props: { menuButton: MenuButton; children?: JSX.Element }) {
  return (
    <>
      <header class="bar">{props.menuButton()}</header>
      <div class="empty" aria-busy="true">
        {props.children}
      </div>
    </>
  );
}
