// What a link received, in the order it came (F6): what follows a packed message waits until that has
// been unpacked and handled. Where nothing waits, everything is handled as it comes.

/** Gives a promise if it is not done yet; that must not reject. */
export type Arrival = () => Promise<void> | null;

export class Inbox {
  #waiting: Arrival[] = [];
  #isBusy = false;

  /** Handles it at once, or after all that came before. */
  add(arrival: Arrival): void {
    this.#waiting.push(arrival);
    if (!this.#isBusy) this.#handle();
  }

  /** What waits is void. */
  empty(): void {
    this.#waiting = [];
  }

  #handle(): void {
    this.#isBusy = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        const handling = next();
        if (handling === null) continue;
        void handling.finally(() => this.#handle());
        return;
      }
    } catch (error) {
      // A bug in whoever listens; what came later is not to wait for it for ever.
      queueMicrotask(() => this.#handle());
      throw error;
    }
    this.#isBusy = false;
  }
}
