// What can be done with a session, as menu actions: the same in the rail and in the title bar.

import Archive from "lucide-solid/icons/archive";
import ArchiveRestore from "lucide-solid/icons/archive-restore";
import Link from "lucide-solid/icons/link";
import Pencil from "lucide-solid/icons/pencil";
import Pin from "lucide-solid/icons/pin";
import PinOff from "lucide-solid/icons/pin-off";
import Trash from "lucide-solid/icons/trash";
import type { MenuAction } from "../../components/menu-action.ts";
import type { Dialogs } from "../../state/dialogs.ts";
import type { ListedSession } from "../../state/pending.ts";
import type { Workbench } from "../../state/workbench.ts";

const SIZE = 14;

export function sessionActions(
  session: ListedSession,
  { workbench, dialogs }: { workbench: Workbench; dialogs: Dialogs },
): MenuAction[] {
  const { id: sessionId, title, pinned, archived } = session;
  return [
    {
      label: "Rename…",
      icon: () => <Pencil size={SIZE} />,
      run: () => dialogs.open({ kind: "rename-session", sessionId, title }),
    },
    {
      label: pinned ? "Unpin" : "Pin",
      icon: () => (pinned ? <PinOff size={SIZE} /> : <Pin size={SIZE} />),
      run: () => workbench.run("session.pin", { sessionId, pinned: !pinned }),
    },
    {
      label: archived ? "Take out of the archive" : "Archive",
      icon: () => (archived ? <ArchiveRestore size={SIZE} /> : <Archive size={SIZE} />),
      run: () => workbench.run("session.archive", { sessionId, archived: !archived }),
    },
    {
      label: "Copy link",
      icon: () => <Link size={SIZE} />,
      run: () => void copyLink(`/s/${sessionId}`, workbench),
    },
    {
      label: "Delete…",
      icon: () => <Trash size={SIZE} />,
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
