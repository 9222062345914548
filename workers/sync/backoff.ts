// When to try again: full jitter, quick while a local daemon may be restarting, slow afterwards.

import { RECONNECT_MAX_MS } from "../../shared/limits.ts";

const FIRST_MS = 250;
/** Within this time of the loss no wait is longer than `QUICK_CAP_MS`. */
const QUICK_WINDOW_MS = 30_000;
const QUICK_CAP_MS = 2_000;

/** `attempt` counts failures since something useful was exchanged, from 0; `random` is in [0, 1). */
export function retryDelay(attempt: number, lostForMs: number, random: number): number {
  const cap = lostForMs < QUICK_WINDOW_MS ? QUICK_CAP_MS : RECONNECT_MAX_MS;
  return Math.round(random * Math.min(cap, FIRST_MS * 2 ** Math.min(attempt, 16)));
}
