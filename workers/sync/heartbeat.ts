// Keeps a live link known to be live: sends a beat when nothing else was sent, and notices silence.
// Waking from sleep is noticed by the same timer: it fires late and finds the silence too long.

import { HEARTBEATS_MISSED_MAX } from "../../shared/limits.ts";
import type { Clock } from "../clock.ts";

export interface Pulse {
  readonly lastHeardAt: number;
  readonly lastSentAt: number;
}

export interface HeartbeatActions {
  beat(): void;
  silent(): void;
}

export const isSilent = (pulse: Pulse, heartbeatMs: number, now: number): boolean =>
  now - pulse.lastHeardAt >= heartbeatMs * HEARTBEATS_MISSED_MAX;

/** Returns the disposer. After `silent` nothing more is called. */
export function makeHeartbeat(
  clock: Clock,
  pulse: Pulse,
  heartbeatMs: number,
  actions: HeartbeatActions,
): () => void {
  let cancel = () => {};
  const check = () => {
    const now = clock.now();
    if (isSilent(pulse, heartbeatMs, now)) return actions.silent();
    if (now - pulse.lastSentAt >= heartbeatMs) actions.beat();
    const untilBeat = pulse.lastSentAt + heartbeatMs - now;
    const untilSilence = pulse.lastHeardAt + heartbeatMs * HEARTBEATS_MISSED_MAX - now;
    cancel = clock.after(Math.max(1, Math.min(untilBeat, untilSilence)), check);
  };
  check();
  return () => cancel();
}
