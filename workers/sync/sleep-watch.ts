// Notices that the machine slept: a timer that fires late.

import type { Clock } from "../clock.ts";

const LATE_MS = 5_000;

/** Calls `woke` each time; runs for as long as the worker. */
export function watchForSleep(clock: Clock, woke: () => void): void {
  const watch = (expectedAt: number): void => {
    const now = clock.now();
    if (now - expectedAt > LATE_MS) woke();
    clock.after(LATE_MS, () => watch(now + LATE_MS));
  };
  watch(clock.now());
}
