// Finds out whether the daemon is still at the other end, when there is reason to doubt it.

import type { Clock } from "../clock.ts";
import type { Link } from "./link.ts";

/** How long a daemon may take to show life: after a wake all is known within 2 s (L3). */
export const PROBE_MS = 1_300;
/** The call id of probes. */
export const PROBE_CALL_ID = 0;

export class Probe {
  readonly #clock: Clock;
  readonly #dead: () => void;
  #cancel: (() => void) | null = null;

  /** `dead`: called when a question had no answer. */
  constructor(clock: Clock, dead: () => void) {
    this.#clock = clock;
    this.#dead = dead;
  }

  /** One question at a time, so that asking often puts nothing off. */
  ask(link: Link): void {
    if (this.#cancel !== null) return;
    const call = { type: "call", commandId: null, method: "model.list", params: {} } as const;
    link.send({ ...call, id: PROBE_CALL_ID });
    this.#wait(link, PROBE_MS);
  }

  /** The answer came, or the connection is given up. */
  end(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** Life is the answer, or bytes that keep coming; what was on its way when the socket died is not. */
  #wait(link: Link, ms: number): void {
    this.#cancel = this.#clock.after(ms, () => {
      if (this.#clock.now() - link.lastHeardAt < PROBE_MS / 2) {
        this.#wait(link, PROBE_MS / 2);
        return;
      }
      this.#cancel = null;
      this.#dead();
    });
  }
}
