// Which worker leads: the one that holds a lock. The browser passes it on when its holder ends, however
// that ends; it can be taken from one that has stopped answering.

/** Of `LockManager` what is needed here. */
export interface Locks {
  /** Held from when `held` is called until what that returns is settled. Rejects when it was stolen. */
  request(name: string, options: { steal?: boolean }, held: () => Promise<void>): Promise<unknown>;
  query(): Promise<{ held?: readonly { name?: string; clientId?: string }[] }>;
}

export interface ElectionOptions {
  readonly locks: Locks;
  readonly lock: string;
  /** The lock that this worker holds for as long as it lives. */
  readonly life: string;
  /** Once. */
  elected(): void;
  /** Once, after `elected`: another leads. */
  robbed(): void;
  /** The browser refuses the lock. */
  report(error: unknown): void;
}

export class Election {
  readonly #options: ElectionOptions;
  #isElected = false;

  constructor(options: ElectionOptions) {
    this.#options = options;
  }

  /** Leads as soon as nobody else does. */
  stand(): void {
    this.#request({});
  }

  /** Leads at once, whoever does. */
  seize(): void {
    if (!this.#isElected) this.#request({ steal: true });
  }

  /** A worker that was robbed in its sleep may take up other things before it hears of that. */
  async isHolder(): Promise<boolean> {
    const { locks, lock, life } = this.#options;
    const { held = [] } = await locks.query();
    const holderOf = (name: string) => held.find((one) => one.name === name)?.clientId;
    return holderOf(lock) === holderOf(life);
  }

  #request(options: { steal?: boolean }): void {
    const { locks, lock, report } = this.#options;
    let isHeld = false;
    const held = () => {
      isHeld = true;
      if (!this.#isElected) {
        this.#isElected = true;
        this.#options.elected();
      }
      return new Promise<never>(() => {});
    };
    locks.request(lock, options, held).catch((error: unknown) => {
      if (isHeld) this.#options.robbed();
      else report(error);
    });
  }
}
