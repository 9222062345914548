// The menu behind an ActionMenu, in a chunk of its own.

import { DropdownMenu } from "@kobalte/core/dropdown-menu";
import Archive from "lucide-solid/icons/archive";
import ArchiveRestore from "lucide-solid/icons/archive-restore";
import Ellipsis from "lucide-solid/icons/ellipsis";
import Link from "lucide-solid/icons/link";
import Pencil from "lucide-solid/icons/pencil";
import Pin from "lucide-solid/icons/pin";
import PinOff from "lucide-solid/icons/pin-off";
import Redo from "lucide-solid/icons/redo-2";
import Share from "lucide-solid/icons/share-2";
import Trash from "lucide-solid/icons/trash";
import Undo from "lucide-solid/icons/undo-2";
import { createEffect, createSignal, For, on, Show } from "solid-js";
import { Dynamic } from "solid-js/web";
import type { MenuAction, MenuIcon } from "./menu-action.ts";

const ICONS = {
  archive: Archive,
  "archive-restore": ArchiveRestore,
  link: Link,
  pencil: Pencil,
  pin: Pin,
  "pin-off": PinOff,
  redo: Redo,
  share: Share,
  trash: Trash,
  undo: Undo,
} as const satisfies Record<MenuIcon, typeof Archive>;

/** What lies outside every landmark is not found by those who go from one to the next. */
const landmarkOf = (element: HTMLElement | undefined): HTMLElement =>
  element?.closest<HTMLElement>("nav, main") ?? document.body;

export default function OpenMenu(props: {
  label: string;
  actions: readonly MenuAction[];
  /** Grows by one each time the menu is to open. */
  uses: number;
}) {
  const [isOpen, setIsOpen] = createSignal(false);
  const [trigger, setTrigger] = createSignal<HTMLElement>();
  let chosen: MenuAction | null = null;
  // Only once focus is back on the button: what the action opens gives it back to there.
  const runChosen = () => {
    const action = chosen;
    chosen = null;
    if (action) queueMicrotask(action.run);
  };
  createEffect(
    on(
      () => props.uses,
      () => setIsOpen(true),
    ),
  );
  return (
    <DropdownMenu
      open={isOpen()}
      onOpenChange={setIsOpen}
      placement="bottom-end"
      gutter={4}
      modal={false}
    >
      <DropdownMenu.Trigger ref={setTrigger} class="icon-button" aria-label={props.label}>
        <Ellipsis size={16} aria-hidden="true" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal mount={landmarkOf(trigger())}>
        <DropdownMenu.Content class="menu" onCloseAutoFocus={runChosen}>
          <For each={props.actions}>
            {(action) => (
              <DropdownMenu.Item
                class={action.tone === "bad" ? "menu-item bad" : "menu-item"}
                disabled={action.isDisabled ?? false}
                onSelect={() => {
                  chosen = action;
                }}
              >
                <Dynamic component={ICONS[action.icon]} size={14} />
                <span>{action.label}</span>
                <Show when={action.shortcut}>
                  <kbd>{action.shortcut}</kbd>
                </Show>
              </DropdownMenu.Item>
            )}
          </For>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu>
  );
}
