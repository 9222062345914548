// A box that scrolls must be reachable by the keyboard, and one that does not must not cost a Tab.

const SCROLLING = "pre, .table-scroll";

export interface ScrollStops {
  /** Looks after the boxes in `root` until they leave the page. */
  watch(root: ParentNode): void;
  dispose(): void;
}

export function makeScrollStops(): ScrollStops {
  // Told after layout and once a box has a size: to measure here forces nothing.
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) {
        target.setAttribute("tabindex", "0");
      } else {
        target.removeAttribute("tabindex");
      }
    }
  });
  return {
    watch(root) {
      for (const box of root.querySelectorAll(SCROLLING)) observer.observe(box);
    },
    dispose: () => observer.disconnect(),
  };
}
