// The locks and channels of one browser, as its workers see them. A worker may be frozen, and thaw, or
// end at any moment: what it held is then free, and nothing reaches it any more.

import type { Locks } from "../sync/election.ts";
import type { Channel, OpenChannel } from "../sync/relay.ts";

interface Request {
  readonly scope: FakeScope;
  readonly name: string;
  readonly held: () => Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface OpenEnd {
  readonly scope: FakeScope;
  readonly name: string;
  listener: (message: unknown) => void;
}

export class FakeBrowser {
  readonly #holders = new Map<string, Request>();
  #waiting: Request[] = [];
  readonly #ends = new Set<OpenEnd>();
  #scopes = 0;

  scope(): FakeScope {
    this.#scopes += 1;
    return new FakeScope(this, `client ${this.#scopes}`);
  }

  get held(): { name: string; clientId: string }[] {
    return [...this.#holders].map(([name, { scope }]) => ({ name, clientId: scope.id }));
  }

  request(request: Request, isStolen: boolean): void {
    const { name } = request;
    const holder = this.#holders.get(name);
    if (isStolen && holder !== undefined) {
      this.#holders.delete(name);
      holder.scope.task(() => holder.reject(new DOMException("Stolen", "AbortError")));
    }
    if (isStolen) this.#waiting.unshift(request);
    else this.#waiting.push(request);
    this.#grant(name);
  }

  open<In, Out>(scope: FakeScope, name: string): Channel<In, Out> {
    const end: OpenEnd = { scope, name, listener: () => {} };
    this.#ends.add(end);
    return {
      listen: (listener) => {
        end.listener = (message) => listener(message as In);
      },
      post: (message) => {
        if (!scope.isEnded) this.#post(end, structuredClone(message));
      },
      close: () => void this.#ends.delete(end),
    };
  }

  /** What `scope` held, awaited and listened to. */
  forget(scope: FakeScope): void {
    for (const end of this.#ends) if (end.scope === scope) this.#ends.delete(end);
    this.#waiting = this.#waiting.filter((request) => request.scope !== scope);
    for (const [name, holder] of this.#holders) {
      if (holder.scope !== scope) continue;
      this.#holders.delete(name);
      this.#grant(name);
    }
  }

  #post(from: OpenEnd, message: unknown): void {
    for (const end of this.#ends) {
      if (end === from || end.name !== from.name) continue;
      end.scope.task(() => {
        if (this.#ends.has(end)) end.listener(message);
      });
    }
  }

  /** Even to one that is frozen. */
  #grant(name: string): void {
    if (this.#holders.has(name)) return;
    const request = this.#waiting.find((one) => one.name === name);
    if (request === undefined) return;
    this.#waiting = this.#waiting.filter((one) => one !== request);
    this.#holders.set(name, request);
    request.scope.task(() => {
      void request.held().then(() => {
        request.resolve();
        if (this.#holders.get(name) !== request) return;
        this.#holders.delete(name);
        this.#grant(name);
      });
    });
  }
}

/** One worker's share of the browser. */
export class FakeScope {
  readonly #browser: FakeBrowser;
  #tasks: (() => void)[] = [];
  #isFrozen = false;
  #isEnded = false;
  readonly id: string;
  readonly locks: Locks;
  readonly openChannel: OpenChannel;

  constructor(browser: FakeBrowser, id: string) {
    this.#browser = browser;
    this.id = id;
    this.locks = {
      request: (name, { steal = false }, held) =>
        new Promise<void>((resolve, reject) => {
          browser.request({ scope: this, name, held, resolve, reject }, steal);
        }),
      query: () =>
        new Promise((resolve) => {
          const { held } = browser;
          this.task(() => resolve({ held }));
        }),
    };
    this.openChannel = (name) => browser.open(this, name);
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Takes up nothing until it thaws; what it holds it keeps. */
  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    this.#isFrozen = false;
    queueMicrotask(() => this.#run());
  }

  end(): void {
    this.#isEnded = true;
    this.#tasks = [];
    this.#browser.forget(this);
  }

  /** After what is to happen before, each in its turn. */
  task(task: () => void): void {
    if (this.#isEnded) return;
    this.#tasks.push(task);
    queueMicrotask(() => this.#run());
  }

  #run(): void {
    if (this.#isFrozen || this.#isEnded) return;
    this.#tasks.shift()?.();
    if (this.#tasks.length > 0) queueMicrotask(() => this.#run());
  }
}
