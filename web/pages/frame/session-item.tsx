// One session in the rail.

import { A } from "@solidjs/router";
import { ActionMenu } from "../../components/action-menu.tsx";
import { Dot, type DotKind } from "../../components/dot.tsx";
import { RelativeTime } from "../../components/relative-time.tsx";
import { createFocusHeir, focusPage } from "../../components/return-focus.ts";
import { usePageTools } from "../../state/page-tools.ts";
import type { ListedSession } from "../../state/pending.ts";
import { exactTime, shortAge } from "../../state/times.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { sessionActions } from "./session-actions.tsx";

const DOTS = {
  idle: "idle",
  running: "live",
  failed: "bad",
  interrupted: "bad",
  waiting: "wait",
} as const satisfies Record<ListedSession["state"], DotKind>;

const STATE_WORDS = {
  idle: "",
  running: "running",
  failed: "failed",
  interrupted: "interrupted",
  waiting: "waits for the daemon",
} as const satisfies Record<ListedSession["state"], string>;

export function SessionItem(props: {
  session: ListedSession;
  isCurrent: boolean;
  now: number;
  onLeave: () => void;
}) {
  const workbench = useWorkbench();
  const { dialogs } = usePageTools();
  let openMenu = () => {};
  let row: HTMLLIElement | undefined;
  const { id } = props.session;
  createFocusHeir(
    () => row,
    () => {
      // Pinned or taken out of the archive, it stands elsewhere in the list.
      const moved = document.querySelector<HTMLElement>(`.item-row > a[href="/s/${id}"]`);
      if (moved) moved.focus();
      else focusPage();
    },
  );
  const what = () => {
    const { id, state, shownDir } = props.session;
    const doing = state === "running" ? workbench.doing(id) : null;
    const known = state === "running" && workbench.isCutOff() ? "was running" : STATE_WORDS[state];
    const words = doing === null ? known : doing.charAt(0).toLowerCase() + doing.slice(1);
    return [shownDir, words].filter(Boolean).join(" · ");
  };
  return (
    <li ref={row} class="item-row">
      <A
        class="item"
        href={`/s/${props.session.id}`}
        aria-current={props.isCurrent ? "page" : undefined}
        onClick={props.onLeave}
        onContextMenu={(event) => {
          event.preventDefault();
          openMenu();
        }}
      >
        <Dot kind={DOTS[props.session.state]} />
        <b dir="auto">{props.session.title}</b>
        <RelativeTime
          at={props.session.modifiedAt}
          words={shortAge(props.session.modifiedAt, props.now)}
          exact={exactTime(props.session.modifiedAt)}
        />
        <span>{what()}</span>
      </A>
      <ActionMenu
        label={`Actions for ${props.session.title}`}
        actions={sessionActions(props.session, { workbench, dialogs })}
        opener={(open) => {
          openMenu = open;
        }}
      />
    </li>
  );
}
