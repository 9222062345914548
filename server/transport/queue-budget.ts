// The bytes that all connections together may hold back (F7). Whoever goes past its own share, or
// holds the most when all shares together are spent, is evicted.

import { ALL_QUEUES_MAX_BYTES, CONNECTION_QUEUE_MAX_BYTES } from "../../shared/limits.ts";

export interface BudgetedQueue {
  readonly queuedBytes: number;
  /** Must give its bytes back before it returns, all but those the socket already has. */
  evict(): void;
}

export class QueueBudget {
  readonly #queueMaxBytes: number;
  readonly #totalMaxBytes: number;
  readonly #queues = new Set<BudgetedQueue>();
  #totalBytes = 0;

  constructor(queueMaxBytes = CONNECTION_QUEUE_MAX_BYTES, totalMaxBytes = ALL_QUEUES_MAX_BYTES) {
    this.#queueMaxBytes = queueMaxBytes;
    this.#totalMaxBytes = totalMaxBytes;
  }

  get totalBytes(): number {
    return this.#totalBytes;
  }

  add(queue: BudgetedQueue): void {
    this.#queues.add(queue);
  }

  /** Its bytes are not given back by this. */
  remove(queue: BudgetedQueue): void {
    this.#queues.delete(queue);
  }

  /** `queue` has just grown by `bytes`. */
  grown(queue: BudgetedQueue, bytes: number): void {
    this.#totalBytes += bytes;
    if (queue.queuedBytes > this.#queueMaxBytes) this.#evict(queue);
    while (this.#totalBytes > this.#totalMaxBytes) {
      const largest = this.#largest();
      if (largest === null) return;
      this.#evict(largest);
    }
  }

  shrunk(bytes: number): void {
    this.#totalBytes -= bytes;
  }

  /** Each at most once: what an evicted queue still holds is in the socket. */
  #evict(queue: BudgetedQueue): void {
    if (this.#queues.delete(queue)) queue.evict();
  }

  #largest(): BudgetedQueue | null {
    let largest: BudgetedQueue | null = null;
    for (const queue of this.#queues) {
      if (largest === null || queue.queuedBytes > largest.queuedBytes) largest = queue;
    }
    return largest;
  }
}
