// The session's title, where it works, and what can be done with it.

import { createSignal, type JSX, onMount, Show } from "solid-js";
import { TITLE_MAX_CHARS } from "../../../shared/limits.ts";
import { ActionMenu } from "../../components/action-menu.tsx";
import { Nothing, smallPart } from "../../components/lazy-part.tsx";
import type { MenuAction } from "../../components/menu-action.ts";
import { createFocusHeir } from "../../components/return-focus.ts";
import { usePageTools } from "../../state/page-tools.ts";
import type { ListedSession } from "../../state/pending.ts";
import { altShortcut } from "../../state/shortcuts.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { sessionActions } from "../frame/session-actions.tsx";

const Faces = smallPart(() => import("../../components/faces.tsx"), Nothing);

export function TitleBar(props: {
  session: ListedSession;
  branch: string | null;
  canUndo: boolean;
  canRedo: boolean;
  menuButton: () => JSX.Element;
}) {
  const workbench = useWorkbench();
  const { dialogs } = usePageTools();
  const where = () =>
    [props.session.shownDir, props.branch, props.session.archived ? "archived" : null]
      .filter(Boolean)
      .join(" · ");
  const share = () => {
    const { id: sessionId, title } = props.session;
    dialogs.open({ kind: "share-session", sessionId, title });
  };
  const actions = (): MenuAction[] => {
    const sessionId = props.session.id;
    if (workbench.isViewer()) return sessionActions(props.session, { workbench, dialogs });
    return [
      {
        label: "Undo last prompt",
        icon: "undo",
        shortcut: altShortcut("↑"),
        isDisabled: !props.canUndo,
        run: () => workbench.run("session.undo", { sessionId }),
      },
      {
        label: "Redo",
        icon: "redo",
        shortcut: altShortcut("↓"),
        isDisabled: !props.canRedo,
        run: () => workbench.run("session.redo", { sessionId }),
      },
      ...sessionActions(props.session, { workbench, dialogs }),
    ];
  };
  return (
    <header class="bar">
      {props.menuButton()}
      <Show when={!workbench.isViewer()} fallback={<h1 dir="auto">{props.session.title}</h1>}>
        <Title session={props.session} />
      </Show>
      <span class="where hide-s" title={where()}>
        {where()}
      </span>
      <div class="right">
        <Show when={workbench.lookers(props.session.id).length > 0}>
          <Faces names={workbench.lookers(props.session.id)} />
        </Show>
        <Show when={!workbench.isViewer() && props.session.state !== "waiting"}>
          <button type="button" class="btn hide-s" onClick={share}>
            Share
          </button>
        </Show>
        <ActionMenu label="Session actions" actions={actions()} />
      </div>
    </header>
  );
}

function Title(props: { session: ListedSession }) {
  const workbench = useWorkbench();
  const [isEditing, setIsEditing] = createSignal(false);
  let button: HTMLButtonElement | undefined;
  const finish = (text: string | null) => {
    if (!isEditing()) return;
    setIsEditing(false);
    const title = text?.trim() ?? "";
    if (title === "" || title === props.session.title) return;
    workbench.run("session.rename", { sessionId: props.session.id, title });
  };
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    if (event.isComposing) return;
    if (event.key !== "Enter" && event.key !== "Escape") return;
    // Else the same key would press the button that the focus goes back to.
    event.preventDefault();
    finish(event.key === "Enter" ? event.currentTarget.value : null);
  };
  return (
    <Show
      when={isEditing()}
      fallback={
        <h1>
          <button
            ref={button}
            type="button"
            class="title"
            dir="auto"
            title={`Rename “${props.session.title}”`}
            onClick={() => setIsEditing(true)}
          >
            {props.session.title}
          </button>
        </h1>
      }
    >
      <TitleInput
        title={props.session.title}
        onKeyDown={onKeyDown}
        onLeave={finish}
        onGone={() => button?.focus()}
      />
    </Show>
  );
}

function TitleInput(props: {
  title: string;
  onKeyDown: (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => void;
  onLeave: (text: string) => void;
  /** It is gone and had the focus. */
  onGone: () => void;
}) {
  let input: HTMLInputElement | undefined;
  createFocusHeir(() => input, props.onGone);
  onMount(() => input?.select());
  return (
    <input
      ref={input}
      class="title-input"
      dir="auto"
      aria-label="Title"
      maxLength={TITLE_MAX_CHARS}
      value={props.title}
      onKeyDown={props.onKeyDown}
      onBlur={(event) => props.onLeave(event.currentTarget.value)}
    />
  );
}
