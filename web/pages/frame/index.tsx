// The frame around a page: rail beside it, or over it as a drawer on a narrow window.

import PanelLeft from "lucide-solid/icons/panel-left";
import { createSignal, type JSX, onCleanup, onMount, Show } from "solid-js";
import { focusPage } from "../../components/return-focus.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { Rail } from "./rail.tsx";

const NARROW = "(max-width: 760px)";
/** How far a finger must travel from the edge, and how near to the edge it must start. */
const SWIPE_MIN_PX = 60;
const EDGE_PX = 24;

export function Frame(props: {
  currentId: string | null;
  /** Gets the button that opens the drawer, which only shows on a narrow window. */
  children: (menuButton: () => JSX.Element) => JSX.Element;
}) {
  const [isOpen, setIsOpen] = createSignal(false);
  const narrow = window.matchMedia(NARROW);
  const [isNarrow, setIsNarrow] = createSignal(narrow.matches);
  let rail: HTMLElement | undefined;
  let opener: HTMLButtonElement | undefined;

  const close = () => {
    if (!isOpen()) return;
    setIsOpen(false);
    opener?.focus();
  };
  const open = () => {
    setIsOpen(true);
    rail?.querySelector("a")?.focus();
  };
  onMount(() => {
    const follow = () => setIsNarrow(narrow.matches);
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) close();
    };
    narrow.addEventListener("change", follow);
    document.addEventListener("keydown", onKeyDown);
    onCleanup(() => {
      narrow.removeEventListener("change", follow);
      document.removeEventListener("keydown", onKeyDown);
    });
  });
  createEdgeSwipe(open, close);
  const { isCutOff } = useWorkbench();

  const menuButton = () => (
    <button
      ref={opener}
      type="button"
      class="icon-button narrow-only"
      aria-label="Sessions"
      aria-expanded={isOpen()}
      onClick={open}
    >
      <PanelLeft size={18} aria-hidden="true" />
    </button>
  );

  return (
    <div class="app" data-cut-off={isCutOff() ? "" : undefined}>
      <nav
        ref={rail}
        class="rail"
        aria-label="Sessions"
        classList={{ open: isOpen() }}
        inert={isNarrow() && !isOpen()}
      >
        <button type="button" class="skip btn" onClick={focusPage}>
          Skip the list of sessions
        </button>
        <Rail currentId={props.currentId} onLeave={() => setIsOpen(false)} />
      </nav>
      <Show when={isOpen()}>
        <button
          type="button"
          class="scrim"
          aria-label="Close the list of sessions"
          onClick={close}
        />
      </Show>
      <main class="stage" inert={isNarrow() && isOpen()}>
        {props.children(menuButton)}
      </main>
    </div>
  );
}

function createEdgeSwipe(open: () => void, close: () => void): void {
  let start: { x: number; y: number } | null = null;
  const onStart = (event: TouchEvent) => {
    const touch = event.touches[0];
    start = touch && event.touches.length === 1 ? { x: touch.clientX, y: touch.clientY } : null;
  };
  const onEnd = (event: TouchEvent) => {
    const touch = event.changedTouches[0];
    if (!start || !touch) return;
    const across = touch.clientX - start.x;
    if (Math.abs(across) < SWIPE_MIN_PX || Math.abs(touch.clientY - start.y) > SWIPE_MIN_PX) return;
    if (across > 0 && start.x < EDGE_PX) open();
    else if (across < 0) close();
  };
  onMount(() => {
    document.addEventListener("touchstart", onStart, { passive: true });
    document.addEventListener("touchend", onEnd, { passive: true });
    onCleanup(() => {
      document.removeEventListener("touchstart", onStart);
      document.removeEventListener("touchend", onEnd);
    });
  });
}
