// A rendered text. Patches come block by block, and only the blocks that changed are touched, so
// that a selection or a scroll position elsewhere in a long answer survives.

import { createSignal, onCleanup, onMount } from "solid-js";
import { type Outline, setOutline } from "./outline.ts";
import { toSafeNodes } from "./safe-html.ts";
import { makeScrollStops } from "./scroll-stops.ts";

export interface ProsePatch {
  readonly from: number;
  readonly html: readonly string[];
  readonly open: boolean;
}

export type ShowProse = (listener: (patch: ProsePatch) => void) => () => void;

/** What is known of a block on screen. */
interface ShownBlock {
  readonly html: string;
  /** At its end. */
  readonly outline: Outline;
}

/** Puts a patch into `container`, which holds one element per block: those of `shown`. */
function applyPatch(
  container: HTMLElement,
  shown: ShownBlock[],
  patch: ProsePatch,
  onBlock: (block: Element) => void,
): void {
  const end = patch.from + patch.html.length;
  for (const [i, html] of patch.html.entries()) {
    const at = patch.from + i;
    if (shown[at]?.html === html) continue;
    const existing = container.children[at];
    const block = existing ?? document.createElement("div");
    block.className = "block";
    block.replaceChildren(...toSafeNodes(html));
    if (!existing) container.append(block);
    shown[at] = { html, outline: setOutline(block, shown[at - 1]?.outline ?? []) };
    onBlock(block);
  }
  shown.length = end;
  while (container.children.length > end) container.lastElementChild?.remove();
}

export function Prose(props: { show: ShowProse; onBlocks?: (count: number) => void }) {
  let container: HTMLDivElement | undefined;
  const shown: ShownBlock[] = [];
  const [isOpen, setIsOpen] = createSignal(false);
  onMount(() => {
    const stops = makeScrollStops();
    onCleanup(stops.dispose);
    const hide = props.show((patch) => {
      if (container) applyPatch(container, shown, patch, stops.watch);
      setIsOpen(patch.open);
      props.onBlocks?.(shown.length);
    });
    onCleanup(hide);
  });
  return <div ref={container} class="prose" data-open={isOpen() ? "" : undefined} />;
}
