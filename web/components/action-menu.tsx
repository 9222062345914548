// A "…" button with a menu. The menu's code is loaded when the button is first used.

import Ellipsis from "lucide-solid/icons/ellipsis";
import { createSignal, Show, Suspense } from "solid-js";
import { lazyPart, SmallMissing } from "./lazy-part.tsx";
import type { MenuAction } from "./menu-action.ts";

const loadMenu = () => import("./action-menu-open.tsx");
const OpenMenu = lazyPart(loadMenu, SmallMissing);

export function ActionMenu(props: {
  label: string;
  actions: readonly MenuAction[];
  /** Called with a function that opens the menu, for a right click elsewhere. */
  opener?: (open: () => void) => void;
}) {
  const [uses, setUses] = createSignal(0);
  const open = () => setUses((count) => count + 1);
  props.opener?.(open);
  const button = () => (
    <button
      type="button"
      class="icon-button"
      aria-label={props.label}
      aria-haspopup="menu"
      onPointerEnter={loadMenu}
      onFocus={loadMenu}
      onClick={open}
    >
      <Ellipsis size={16} aria-hidden="true" />
    </button>
  );
  return (
    <Show when={uses() > 0} fallback={button()}>
      <Suspense fallback={button()}>
        <OpenMenu label={props.label} actions={props.actions} uses={uses()} />
      </Suspense>
    </Show>
  );
}
