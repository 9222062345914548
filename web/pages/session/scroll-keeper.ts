// Where the transcript stands: at the end as long as the reader is at the end, else exactly where
// they are, whatever is added or changes its height above or below. Browsers differ in how they hold
// a position, so theirs is switched off in the style sheet and this decides alone.

import { type Accessor, createSignal, onCleanup } from "solid-js";
import type { ReadingPlace } from "../../state/reading-places.ts";

export interface ScrollKeeper {
  readonly isAtEnd: Accessor<boolean>;
  /** Less than two screens are left above. */
  isNearTop(): boolean;
  attach(scroller: HTMLElement, content: HTMLElement): void;
  toEnd(): void;
  /** Puts an element near the top of the view. */
  toElement(element: Element): void;
  /** Puts back a kept place; false if its request is not on screen. */
  toPlace(place: ReadingPlace): boolean;
  /** Null: at the end. */
  place(): ReadingPlace | null;
  /** What is being read stays where it was. Happens by itself when heights change. */
  hold(): void;
}

export interface ScrollListener {
  onNearTop(): void;
  onSettled(place: ReadingPlace | null): void;
}

const END_SLACK_PX = 48;
/** Less than this is a rounding error of zoomed pages. */
const LEAVE_SLACK_PX = 4;
const TOP_GAP_PX = 16;
const SETTLE_MS = 300;
/** How long after a wheel, key or touch a scroll is still the reader's. */
const INTENT_MS = 600;
const INTENTS = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/** Tells the reader's scrolling from the browser's own, which follows changes of height. */
function makeIntent(scroller: HTMLElement) {
  let at = Number.NEGATIVE_INFINITY;
  let lastTop = scroller.scrollTop;
  let lastHeight = scroller.scrollHeight;
  const note = () => {
    at = performance.now();
  };
  for (const type of INTENTS) scroller.addEventListener(type, note, { passive: true });
  return {
    /** After our own scrolling. */
    sync() {
      lastTop = scroller.scrollTop;
      lastHeight = scroller.scrollHeight;
    },
    /** On a scroll event: which way the reader went; null if it was not the reader. */
    direction(): "up" | "down" | null {
      const { scrollTop, scrollHeight } = scroller;
      const moved = scrollTop - lastTop;
      // With no change of height, only a person (or their page search) scrolls.
      const isReader = performance.now() - at < INTENT_MS || scrollHeight === lastHeight;
      lastTop = scrollTop;
      lastHeight = scrollHeight;
      if (!isReader || Math.abs(moved) < 1) return null;
      return moved < 0 ? "up" : "down";
    },
    dispose() {
      for (const type of INTENTS) scroller.removeEventListener(type, note);
    },
  };
}

/** What is being read: the request at the top of the view, and how far above it begins. */
function makeAnchor(scroller: () => HTMLElement | undefined) {
  let held: { element: Element; top: number } | null = null;
  const top = (element: Element) =>
    element.getBoundingClientRect().top - (scroller()?.getBoundingClientRect().top ?? 0);
  const standing = () => (held?.element.isConnected ? held : null);
  return {
    note() {
      const box = scroller()?.getBoundingClientRect();
      if (!box) return;
      const at = document.elementFromPoint(box.left + box.width / 2, box.top + TOP_GAP_PX);
      const element = at?.closest("[data-request]");
      if (element) held = { element, top: top(element) };
    },
    set(element: Element, offset: number) {
      held = { element, top: offset };
    },
    /** How far it has moved since. */
    drift(): number {
      const anchor = standing();
      return anchor ? top(anchor.element) - anchor.top : 0;
    },
    place(): ReadingPlace | null {
      const anchor = standing();
      const requestId = anchor?.element.getAttribute("data-request") ?? null;
      return anchor && requestId !== null ? { requestId, offset: Math.round(anchor.top) } : null;
    },
  };
}

function observe(
  scroller: HTMLElement,
  content: HTMLElement,
  heard: { onScroll: () => void; onHeight: () => void },
): () => void {
  scroller.addEventListener("scroll", heard.onScroll, { passive: true });
  const observer = new ResizeObserver(heard.onHeight);
  observer.observe(content);
  observer.observe(scroller);
  return () => {
    observer.disconnect();
    scroller.removeEventListener("scroll", heard.onScroll);
  };
}

export function createScrollKeeper(listener: ScrollListener): ScrollKeeper {
  const [isAtEnd, setIsAtEnd] = createSignal(true);
  let scroller: HTMLElement | undefined;
  let intent: ReturnType<typeof makeIntent> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let frame = 0;
  const anchor = makeAnchor(() => scroller);

  const hold = () => {
    if (!scroller) return;
    const distance = isAtEnd() ? scroller.scrollHeight - scroller.scrollTop : anchor.drift();
    if (Math.abs(distance) >= 1) scroller.scrollTop += distance;
    intent?.sync();
  };
  const putAt = (element: Element, offset: number) => {
    setIsAtEnd(false);
    anchor.set(element, offset);
    hold();
  };
  const place = () => (isAtEnd() ? null : anchor.place());
  const isNearTop = () => scroller !== undefined && scroller.scrollTop < 2 * scroller.clientHeight;

  const onScroll = () => {
    if (!scroller) return;
    const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    const direction = intent?.direction() ?? null;
    if (direction !== null) {
      if (direction === "up" && left > LEAVE_SLACK_PX) setIsAtEnd(false);
      else if (left < END_SLACK_PX) setIsAtEnd(true);
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(anchor.note);
    }
    if (isNearTop()) listener.onNearTop();
    clearTimeout(timer);
    timer = setTimeout(() => listener.onSettled(place()), SETTLE_MS);
  };

  const attach = (element: HTMLElement, content: HTMLElement) => {
    scroller = element;
    intent = makeIntent(element);
    const stop = observe(element, content, { onScroll, onHeight: hold });
    onCleanup(() => {
      stop();
      intent?.dispose();
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    });
  };

  return {
    isAtEnd,
    isNearTop,
    hold,
    place,
    attach,
    toEnd() {
      setIsAtEnd(true);
      hold();
    },
    toElement: (element) => putAt(element, TOP_GAP_PX),
    toPlace({ requestId, offset }) {
      const element = scroller?.querySelector(`[data-request="${CSS.escape(requestId)}"]`);
      if (element) putAt(element, offset);
      return element !== null && element !== undefined;
    },
  };
}
