import type { JSX } from "solid-js";

export interface MenuAction {
  readonly label: string;
  readonly icon: () => JSX.Element;
  readonly shortcut?: string;
  readonly tone?: "bad";
  readonly isDisabled?: boolean;
  readonly run: () => void;
}
