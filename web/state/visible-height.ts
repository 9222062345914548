// The height that the on-screen keyboard leaves. Browsers that shrink the page for it themselves (the
// viewport's `interactive-widget`) report the same height; for the others the frame follows this.

/** Tells `show` the visible height in pixels now and whenever it changes. Lives as long as the page. */
export function followVisibleHeight(
  viewport: Pick<VisualViewport, "height" | "scale" | "addEventListener">,
  show: (height: number) => void,
): void {
  const follow = () => {
    // A page that was zoomed in has a small viewport, and no keyboard.
    if (viewport.scale === 1) show(viewport.height);
  };
  viewport.addEventListener("resize", follow);
  follow();
}
