// The menu behind an ActionMenu, in a chunk of its own.

import { DropdownMenu } from "@kobalte/core/dropdown-menu";
import Ellipsis from "lucide-solid/icons/ellipsis";
import { createEffect, createSignal, For, on, Show } from "solid-js";
import type { MenuAction } from "./menu-action.ts";

export default function OpenMenu(props: {
  label: string;
  actions: readonly MenuAction[];
  /** Grows by one each time the menu is to open. */
  uses: number;
}) {
  const [isOpen, setIsOpen] = createSignal(false);
  createEffect(
    on(
      () => props.uses,
      () => setIsOpen(true),
    ),
  );
  return (
    <DropdownMenu open={isOpen()} onOpenChange={setIsOpen} placement="bottom-end" gutter={4}>
      <DropdownMenu.Trigger class="icon-button" aria-label={props.label}>
        <Ellipsis size={16} aria-hidden="true" />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content class="menu">
          <For each={props.actions}>
            {(action) => (
              <DropdownMenu.Item
                class={action.tone === "bad" ? "menu-item bad" : "menu-item"}
                disabled={action.isDisabled ?? false}
                onSelect={action.run}
              >
                {action.icon()}
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
