// The current time as a signal, for what is shown relative to it.

import { type Accessor, createSignal, onCleanup } from "solid-js";
import { useWorkbench } from "./workbench.ts";

/** The daemon's clock, as far as it is known. Ticks every `everyMs` while the owner lives. */
export function createNow(everyMs: number): Accessor<number> {
  const { clockAheadMs } = useWorkbench();
  const [now, setNow] = createSignal(Date.now());
  const timer = setInterval(() => setNow(Date.now()), everyMs);
  onCleanup(() => clearInterval(timer));
  return () => now() - clockAheadMs();
}
