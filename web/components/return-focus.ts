// Where the keyboard goes on when what it stood in is gone. Never to nowhere: a person who does not
// see the page would have to find their place from the top.

import { onCleanup } from "solid-js";

const PAGE_MAX_MS = 5_000;

/** The page's own place to go on: the prompt, else the heading. One still being loaded is waited for. */
export function focusPage(): void {
  if (focusIn(document.querySelector("main"))) return;
  const observer = new MutationObserver(() => {
    if (focusIn(document.querySelector("main"))) observer.disconnect();
  });
  observer.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => observer.disconnect(), PAGE_MAX_MS);
}

function focusIn(main: HTMLElement | null): boolean {
  // On a touch screen focus in the prompt would raise the keyboard.
  const hasKeyboard = window.matchMedia("(pointer: fine)").matches;
  const prompt = hasKeyboard ? main?.querySelector<HTMLElement>("textarea") : null;
  const place = prompt ?? main?.querySelector<HTMLElement>("h1");
  if (!place) return false;
  if (place.tabIndex < 0) place.tabIndex = -1;
  place.focus();
  return true;
}

/** Call where something opens; what it returns gives the focus back to where it was. */
export function holdFocus(): () => void {
  const opener = document.activeElement;
  return () => {
    const canGoBack =
      opener instanceof HTMLElement && opener !== document.body && opener.isConnected;
    if (canGoBack) opener.focus();
    // Refused: it was hidden or is inert by now.
    if (!canGoBack || document.activeElement !== opener) focusPage();
  };
}

/** When the owner goes while the focus is in `element`, `pass` takes it on. */
export function createFocusHeir(
  element: () => HTMLElement | undefined,
  pass: () => void = focusPage,
): void {
  // Cleanups run while the element is still there; what comes in its place is there a moment later.
  onCleanup(() => {
    if (element()?.contains(document.activeElement)) queueMicrotask(pass);
  });
}
