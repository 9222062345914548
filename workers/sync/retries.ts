// When to try again: at growing waits since the last connection that was of use, one at a time.

import type { Clock } from "../clock.ts";
import { retryDelay } from "./backoff.ts";

export class Retries {
  readonly #clock: Clock;
  readonly #random: () => number;
  #failures = 0;
  #lostSince: number | null = null;
  #cancel = () => {};

  /** `random`: in [0, 1). */
  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Something worth having came: the next loss begins with short waits again. */
  reset(): void {
    this.#failures = 0;
    this.#lostSince = null;
  }

  noteLoss(): void {
    this.#lostSince ??= this.#clock.now();
  }

  /** After the next of the growing waits; gives when that is. */
  later(run: () => void): number {
    this.noteLoss();
    const now = this.#clock.now();
    const delay = retryDelay(this.#failures++, now - (this.#lostSince ?? now), this.#random());
    this.after(delay, run);
    return now + delay;
  }

  after(ms: number, run: () => void): void {
    this.cancel();
    this.#cancel = this.#clock.after(ms, run);
  }

  cancel(): void {
    this.#cancel();
  }
}
