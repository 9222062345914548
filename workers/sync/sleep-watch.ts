// Notices that the machine slept: a timer that fires late by the clock. Timers may stand still in sleep
// and then wait for the rest of their time, so it is a short one.

import type { Clock } from "../clock.ts";

/** With the probe that follows, a dead socket is found out within 2 s of waking (L3). */
const TICK_MS = 500;
/** A busy worker is late as well; a false alarm costs a question. */
const LATE_MS = 2_500;

/** Calls `woke` each time; runs for as long as the worker. */
export function watchForSleep(clock: Clock, woke: () => void): void {
  const watch = (expectedAt: number): void => {
    const now = clock.now();
    if (now - expectedAt > LATE_MS) woke();
    clock.after(TICK_MS, () => watch(now + TICK_MS));
  };
  watch(clock.now());
}
