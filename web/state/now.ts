// The current time as a signal, for what is shown relative to it.

import { type Accessor, createSignal, onCleanup } from "solid-js";

/** Ticks every `everyMs` while the owner lives. */
export function createNow(everyMs: number): Accessor<number> {
  const [now, setNow] = createSignal(Date.now());
  const timer = setInterval(() => setNow(Date.now()), everyMs);
  onCleanup(() => clearInterval(timer));
  return now;
}
