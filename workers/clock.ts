// Time and timers as an argument, so that tests can bend them.

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `task` once after `ms`; the returned function calls it off. */
  after(ms: number, task: () => void): () => void;
}

export const workerClock: Clock = {
  now: () => Date.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};
