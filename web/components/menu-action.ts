/** Drawn by the menu, which brings them along. */
export type MenuIcon =
  | "archive"
  | "archive-restore"
  | "link"
  | "pencil"
  | "pin"
  | "pin-off"
  | "redo"
  | "share"
  | "trash"
  | "undo";

export interface MenuAction {
  readonly label: string;
  readonly icon: MenuIcon;
  readonly shortcut?: string;
  readonly tone?: "bad";
  readonly isDisabled?: boolean;
  readonly run: () => void;
}
