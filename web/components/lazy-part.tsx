// Parts of the page that are loaded when they are needed. Where one cannot be had, most likely because
// another build took the place of the one this page is of, there are words and a way on instead of nothing.

import { type Component, lazy, Suspense } from "solid-js";

interface Part<T> {
  default: T;
}

/** `missing` stands in for the part; it loads nothing itself. Suspends until the part is here. */
export function lazyPart<P extends object>(
  load: () => Promise<Part<Component<P>>>,
  missing: Component,
): Component<P> {
  const instead: Part<Component<P>> = { default: missing };
  return lazy(() =>
    load().then(
      // Undefined: the page is about to reload, which the bundler's loader takes for an answer.
      (part: Part<Component<P>> | undefined) => part ?? instead,
      () => instead,
    ),
  );
}

/** A part within a page: nothing in its place until it is here. */
export function smallPart<P extends object>(
  load: () => Promise<Part<Component<P>>>,
  missing: Component = SmallMissing,
): Component<P> {
  const Whole = lazyPart(load, missing);
  return (props) => (
    <Suspense>
      <Whole {...props} />
    </Suspense>
  );
}

/** Stands in for what can be missed. */
export const Nothing = () => null;

export function SmallMissing() {
  return (
    <button type="button" class="btn" onClick={() => location.reload()}>
      Reload to see the rest
    </button>
  );
}
