// The one clock of a simulated world. Everyone in it reads it through a view of its own, which may be
// askew, may sleep (time passes, no timer fires) and may stop for good, as with a process that dies.

import { quiet } from "./quiet.ts";

const START = Date.UTC(2026, 0, 1);

interface Task {
  readonly view: ClockView;
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class VirtualClock {
  #now = START;
  #order = 0;
  readonly #tasks = new Set<Task>();

  get now(): number {
    return this.#now;
  }

  view(skewMs = 0): ClockView {
    return new ClockView(this, skewMs);
  }

  /** Runs what falls due within `ms`, in order, and lets everything settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await quiet();
    for (let task = this.#earliest(end); task !== null; task = this.#earliest(end)) {
      this.#tasks.delete(task);
      this.#now = Math.max(this.#now, task.at);
      task.run();
      await quiet();
    }
    this.#now = end;
  }

  add(view: ClockView, ms: number, run: () => void): () => void {
    this.#order += 1;
    const task = { view, at: this.#now + Math.max(0, ms), order: this.#order, run };
    this.#tasks.add(task);
    return () => void this.#tasks.delete(task);
  }

  drop(view: ClockView): void {
    for (const task of this.#tasks) if (task.view === view) this.#tasks.delete(task);
  }

  #earliest(until: number): Task | null {
    let first: Task | null = null;
    for (const task of this.#tasks) {
      if (task.at > until || task.view.isAsleep) continue;
      const isEarlier =
        first === null || task.at < first.at || (task.at === first.at && task.order < first.order);
      if (isEarlier) first = task;
    }
    return first;
  }
}

/** Satisfies the clocks of both sides. */
export class ClockView {
  readonly #clock: VirtualClock;
  readonly #skewMs: number;
  #isStopped = false;
  isAsleep = false;

  constructor(clock: VirtualClock, skewMs: number) {
    this.#clock = clock;
    this.#skewMs = skewMs;
  }

  now(): number {
    return this.#clock.now + this.#skewMs;
  }

  after(ms: number, run: () => void): () => void {
    return this.#isStopped ? () => {} : this.#clock.add(this, ms, run);
  }

  /** Nothing set by way of this view fires any more. */
  stop(): void {
    this.#isStopped = true;
    this.#clock.drop(this);
  }
}
