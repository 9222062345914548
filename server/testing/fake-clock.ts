// A clock that moves only when the test says so.

import type { Clock } from "../clock.ts";

export interface FakeClock extends Clock {
  /** Runs what falls due within `ms`, in order of time, with promises settling in between. */
  advance(ms: number): Promise<void>;
  /** Tasks not yet run or called off. */
  readonly pending: number;
}

interface Task {
  readonly at: number;
  readonly run: () => void;
}

/** Lets promise reactions, and the I/O callbacks that are ready, run. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

export function makeFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  const tasks = new Set<Task>();

  const earliest = (until: number): Task | null => {
    let found: Task | null = null;
    for (const task of tasks) {
      if (task.at <= until && (found === null || task.at < found.at)) found = task;
    }
    return found;
  };

  return {
    now: () => now,
    after(ms, run) {
      const task = { at: now + Math.max(0, ms), run };
      tasks.add(task);
      return () => {
        tasks.delete(task);
      };
    },
    async advance(ms) {
      const until = now + ms;
      await settle();
      for (let task = earliest(until); task !== null; task = earliest(until)) {
        tasks.delete(task);
        now = task.at;
        task.run();
        await settle();
      }
      now = until;
    },
    get pending() {
      return tasks.size;
    },
  };
}
