// A clock that stands still until the test moves it.

import type { Clock } from "../clock.ts";

interface Task {
  readonly at: number;
  readonly run: () => void;
}

/** Lets everything that is already decided happen: promises, not timers. */
export const flushPromises = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class FakeClock implements Clock {
  #now = 1_700_000_000_000;
  #tasks: Task[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const task = { at: this.#now + ms, run };
    this.#tasks.push(task);
    return () => {
      this.#tasks = this.#tasks.filter((other) => other !== task);
    };
  }

  /** Runs what falls due in the next `ms`, in order, with the promises in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await flushPromises();
    for (;;) {
      const due = this.#tasks.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#tasks = this.#tasks.filter((task) => task !== due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
      await flushPromises();
    }
    this.#now = end;
  }

  /** The machine sleeps: time passes and no timer fires until it is over. */
  sleep(ms: number): void {
    this.#now += ms;
  }
}
