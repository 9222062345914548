/** Runs `task` when `signal` aborts, at once if it has. Returns what calls it off. */
export function whenStopped(signal: AbortSignal, task: () => void): () => void {
  if (signal.aborted) {
    task();
    return () => {};
  }
  signal.addEventListener("abort", task, { once: true });
  return () => signal.removeEventListener("abort", task);
}
