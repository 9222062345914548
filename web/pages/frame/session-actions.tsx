// What can be done with a session, as menu actions: the same in the rail and in the title bar.

import type { MenuAction } from "../../components/menu-action.ts";
import type { Dialogs } from "../../state/dialogs.ts";
import type { ListedSession } from "../../state/pending.ts";
import type { Workbench } from "../../state/workbench.ts";

export function sessionActions(
  session: ListedSession,
  { workbench, dialogs }: { workbench: Workbench; dialogs: Dialogs },
): MenuAction[] {
  const { id: sessionId, title, pinned, archived } = session;
  const link: MenuAction = {
    label: "Copy link",
    icon: "link",
    run: () => void copyLink(`/s/${sessionId}`, workbench),
  };
  if (workbench.isViewer()) return [link];
  return [
    {
      label: "Rename…",
      icon: "pencil",
      run: () => dialogs.open({ kind: "rename-session", sessionId, title }),
    },
    {
      label: pinned ? "Unpin" : "Pin",
      icon: pinned ? "pin-off" : "pin",
      run: () => workbench.run("session.pin", { sessionId, pinned: !pinned }),
    },
    {
      label: archived ? "Take out of the archive" : "Archive",
      icon: archived ? "archive-restore" : "archive",
      run: () => workbench.run("session.archive", { sessionId, archived: !archived }),
    },
    link,
    {
      label: "Share…",
      icon: "share",
      isDisabled: session.state === "waiting",
      run: () => dialogs.open({ kind: "share-session", sessionId, title }),
    },
    {
      label: "Delete…",
      icon: "trash",
      tone: "bad",
      run: () => dialogs.open({ kind: "delete-session", sessionId, title }),
    },
  ];
}

/** Copies an in-app path as a whole address and says whether it worked. */
export async function copyLink(path: string, workbench: Workbench): Promise<void> {
  try {
    await navigator.clipboard.writeText(new URL(path, location.origin).href);
    workbench.announce("Link copied.");
  } catch {
    // No clipboard over plain http, or no permission. The address bar has the link.
    workbench.announce("The link could not be copied. It is in the address bar.");
  }
}
