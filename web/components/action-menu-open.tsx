// The menu behind an ActionMenu, in a chunk of its own.

import { DropdownMenu } from "@kobalte/core/dropdown-menu";
import Ellipsis from "lucide-solid/icons/ellipsis";
import { createEffect, createSignal, For, on, Show } from "solid-js";
import type { MenuAction } from "./menu-action.ts";

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
