// The session's title, where it works, and what can be done with it.

import Redo from "lucide-solid/icons/redo-2";
import Undo from "lucide-solid/icons/undo-2";
import { createSignal, type JSX, onMount, Show } from "solid-js";
import { TITLE_MAX_CHARS } from "../../../shared/limits.ts";
import { ActionMenu } from "../../components/action-menu.tsx";
import type { MenuAction } from "../../components/menu-action.ts";
import { createFocusHeir } from "../../components/return-focus.ts";
import { usePageTools } from "../../state/page-tools.ts";
import type { ListedSession } from "../../state/pending.ts";
import { altShortcut } from "../../state/shortcuts.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { sessionActions } from "../frame/session-actions.tsx";

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
  const actions = (): MenuAction[] => {
    const sessionId = props.session.id;
    return [
      {
        label: "Undo last prompt",
        icon: () => <Undo size={14} />,
        shortcut: altShortcut("↑"),
        isDisabled: !props.canUndo,
        run: () => workbench.run("session.undo", { sessionId }),
      },
      {
        label: "Redo",
        icon: () => <Redo size={14} />,
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
      <Title session={props.session} />
      <span class="where hide-s" title={where()}>
        {where()}
      </span>
      <div class="right">
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
