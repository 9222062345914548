// What every dialog of the page is: a title, the way out, and the focus kept in and given back.

// By its parts: the ready-made object is one with the alert dialog's, with the parts of whichever came last.
import * as KobalteDialog from "@kobalte/core/dialog";
import X from "lucide-solid/icons/x";
import type { JSX } from "solid-js";
import { holdFocus } from "../../components/return-focus.ts";

/** Gives the focus back, unless what was done moved it on to somewhere already. */
export function makeCloseFocus(): (event: Event) => void {
  const giveBack = holdFocus();
  return (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    giveBack();
  };
}

export function Modal(props: {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: JSX.Element;
}) {
  const onCloseFocus = makeCloseFocus();
  let content: HTMLElement | undefined;
  // What is asked for comes first, not the way out.
  const onOpenFocus = (event: Event) => {
    const field = content?.querySelector<HTMLInputElement>("input[type=text], input:checked");
    if (!field) return;
    event.preventDefault();
    field.focus();
    field.select();
  };
  return (
    <KobalteDialog.Root open onOpenChange={(isOpen) => !isOpen && props.onClose()}>
      <KobalteDialog.Portal>
        <KobalteDialog.Overlay class="overlay" />
        <div class="dialog-place">
          <KobalteDialog.Content
            ref={content}
            class={props.wide ? "dialog wide" : "dialog"}
            onOpenAutoFocus={onOpenFocus}
            onCloseAutoFocus={onCloseFocus}
          >
            <header>
              <KobalteDialog.Title>{props.title}</KobalteDialog.Title>
              <KobalteDialog.CloseButton class="icon-button" aria-label="Close">
                <X size={16} aria-hidden="true" />
              </KobalteDialog.CloseButton>
            </header>
            {props.children}
          </KobalteDialog.Content>
        </div>
      </KobalteDialog.Portal>
    </KobalteDialog.Root>
  );
}
