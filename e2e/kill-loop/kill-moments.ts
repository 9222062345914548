// When a daemon is killed: at any moment, and often right behind, or in the middle of, what matters.

import { setTimeout as sleep } from "node:timers/promises";
import type { SeededRandom } from "../../server/testing/seeded-random.ts";
import type { Happening } from "./feed-device.ts";

const AT_ONCE: readonly [Happening, ...Happening[]] = [
  "page",
  "chunk",
  "chunk",
  "tool",
  "answer",
  "command",
];
/** By then it has happened, or will not. */
const WAIT_MAX_MS = 1_500;

export class KillMoments {
  #awaited: Happening | null = null;
  #came = () => {};
  readonly #random: SeededRandom;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  readonly happened = (what: Happening): void => {
    if (what === this.#awaited) this.#came();
  };

  /** Resolves at the next moment to kill. */
  async next(): Promise<string> {
    const ms = this.#random.below(this.#random.pick([600, 1_200, 2_600]));
    await sleep(100 + ms);
    if (this.#random.oneIn(3)) return "any moment";
    const what = this.#random.pick(AT_ONCE);
    const after = this.#random.below(this.#random.pick([1, 4, 25]));
    const came = new Promise<void>((resolve) => {
      this.#came = resolve;
    });
    this.#awaited = what;
    await Promise.race([came, sleep(WAIT_MAX_MS)]);
    this.#awaited = null;
    if (after > 0) await sleep(after);
    return `${after} ms after a ${what}`;
  }
}
