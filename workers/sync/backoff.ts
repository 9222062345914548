// When to try again: full jitter; at once while the network may have blinked, quick while a local daemon
// may be restarting, slow afterwards.

import { RECONNECT_MAX_MS } from "../../shared/limits.ts";

const FIRST_MS = 100;
/** How long after the loss no wait is longer than `longest`. The last holds ever after. */
const STAGES = [
  { untilMs: 10_000, longest: FIRST_MS },
  { untilMs: 30_000, longest: 2_000 },
] as const;

/** `attempt` counts failures since something useful was exchanged, from 0; `random` is in [0, 1). */
export function retryDelay(attempt: number, lostForMs: number, random: number): number {
  const stage = STAGES.find(({ untilMs }) => lostForMs < untilMs);
  const longest = stage?.longest ?? RECONNECT_MAX_MS;
  return Math.round(random * Math.min(longest, FIRST_MS * 2 ** Math.min(attempt, 16)));
}
