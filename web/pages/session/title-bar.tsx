// The session's title, where it works, and what can be done with it.

import Redo from "lucide-solid/icons/redo-2";
import Undo from "lucide-solid/icons/undo-2";
import { createSignal, type JSX, Show } from "solid-js";
import { TITLE_MAX_CHARS } from "../../../shared/limits.ts";
import { ActionMenu } from "../../components/action-menu.tsx";
import type { MenuAction } from "../../components/menu-action.ts";
import { usePageTools } from "../../state/page-tools.ts";
import type { ListedSession } from "../../state/pending.ts";
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
  const where = () => [props.session.shownDir, props.branch].filter(Boolean).join(" · ");
  const actions = (): MenuAction[] => {
    const sessionId = props.session.id;
    return [
      {
        label: "Undo last prompt",
        icon: () => <Undo size={14} />,
        shortcut: "Alt ↑",
        isDisabled: !props.canUndo,
        run: () => workbench.run("session.undo", { sessionId }),
      },
      {
        label: "Redo",
        icon: () => <Redo size={14} />,
        shortcut: "Alt ↓",
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
  const finish = (text: string | null) => {
    if (!isEditing()) return;
    setIsEditing(false);
    const title = text?.trim() ?? "";
    if (title === "" || title === props.session.title) return;
    workbench.run("session.rename", { sessionId: props.session.id, title });
  };
  const onKeyDown = (event: KeyboardEvent & { currentTarget: HTMLInputElement }) => {
    if (event.isComposing) return;
    if (event.key === "Enter") finish(event.currentTarget.value);
    if (event.key === "Escape") {
      event.preventDefault();
      finish(null);
    }
  };
  return (
    <Show
      when={isEditing()}
      fallback={
        <h1>
          <button type="button" class="title" title="Rename" onClick={() => setIsEditing(true)}>
            {props.session.title}
          </button>
        </h1>
      }
    >
      <input
        ref={(input) => queueMicrotask(() => input.select())}
        class="title-input"
        aria-label="Title"
        maxLength={TITLE_MAX_CHARS}
        value={props.session.title}
        onKeyDown={onKeyDown}
        onBlur={(event) => finish(event.currentTarget.value)}
      />
    </Show>
  );
}
