// A sync worker with everything around it fake, a daemon to talk to, and pages that record what they
// were told.

import { applyChanges } from "../../shared/feed/apply-page.ts";
import type { SessionId } from "../../shared/ids.ts";
import { nobleCrypto } from "../../shared/noise/noble-crypto.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import type { RenderInput } from "../render/port.ts";
import type {
  ConnectionState,
  Enrolment,
  OutboxEntry,
  PageMessage,
  SyncMessage,
} from "../sync/port.ts";
import { Sync } from "../sync/sync.ts";
import { FakeClock } from "./fake-clock.ts";
import { FakeDaemon } from "./fake-daemon.ts";
import { LinkedNetwork } from "./linked-network.ts";
import { MemoryReplica } from "./memory-replica.ts";
import { unpackAtOnce } from "./unpack-at-once.ts";

/** Bytes that differ from call to call and are the same in every run. */
export function makeBytes(seed: number): (length: number) => Uint8Array {
  let state = seed;
  return (length) =>
    Uint8Array.from({ length }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state >>> 24;
    });
}

export class FakePage {
  readonly told: SyncMessage[] = [];
  readonly rows = new Map<string, Change>();
  /** What the renderer was given, as the text it makes of it. */
  readonly texts = new Map<string, string>();
  readonly ended: string[] = [];
  outbox: OutboxEntry[] = [];
  state: ConnectionState | null = null;
  #lastId = 0;
  readonly #receive: (message: PageMessage) => void;

  constructor(sync: Sync, enrolment: Enrolment | null = null) {
    this.#receive = sync.accept((message) => this.#told(message));
    const { port1, port2 } = new MessageChannel();
    port2.close();
    port1.postMessage = (input: RenderInput) => this.#render(input);
    this.say({ type: "attach", renderPort: port1, enrolment, deviceName: "Test" });
  }

  say(message: PageMessage): void {
    this.#receive(message);
  }

  ask(message: (id: number) => PageMessage): number {
    const id = ++this.#lastId;
    this.say(message(id));
    return id;
  }

  answerTo(id: number): SyncMessage | undefined {
    return this.told.find(
      (message) => (message.type === "value" || message.type === "failure") && message.id === id,
    );
  }

  opened(sessionId: SessionId): Extract<SyncMessage, { type: "opened" }> | undefined {
    return this.told
      .filter((message) => message.type === "opened")
      .findLast((message) => message.sessionId === sessionId);
  }

  ids(kind: Change["kind"]): string[] {
    return [...this.rows.values()].filter((change) => change.kind === kind).map(({ id }) => id);
  }

  #told(message: SyncMessage): void {
    this.told.push(structuredClone(message));
    if (message.type === "connection") this.state = message.state;
    if (message.type === "outbox") this.outbox = message.entries;
    if (message.type !== "rows") return;
    if (message.reset) this.rows.clear();
    applyChanges(
      {
        knownRev: (kind, sessionId, id) => this.rows.get(`${kind} ${sessionId} ${id}`)?.rev ?? 0,
        put: (change) =>
          void this.rows.set(`${change.kind} ${change.sessionId} ${change.id}`, change),
        remove: (kind, sessionId, id) => void this.rows.delete(`${kind} ${sessionId} ${id}`),
        removeSession: (sessionId) => {
          for (const [key, change] of this.rows) {
            if (change.sessionId === sessionId) this.rows.delete(key);
          }
        },
      },
      message.changes,
    );
  }

  /** As strict as can be: every chunk must continue exactly where the text ends. */
  #render(input: RenderInput): void {
    if (input.type === "end") {
      this.ended.push(input.key);
      return;
    }
    const held = input.offset === 0 ? "" : (this.texts.get(input.key) ?? "");
    if (held.length !== input.offset) throw new Error(`A gap or repeat at ${input.offset}`);
    this.texts.set(input.key, held + input.text);
  }
}

export interface Workbench {
  readonly clock: FakeClock;
  readonly replica: MemoryReplica;
  readonly daemon: FakeDaemon;
  readonly network: LinkedNetwork;
  readonly faults: unknown[];
  /** Gives a page's lock back, as the browser does when the page is gone. */
  readonly locks: ReadonlyMap<string, () => void>;
  readonly sync: Sync;
  /** Another worker over the same replica, as after a reload or in a second tab without SharedWorker. */
  makeSync(): Sync;
  /** A page, attached and served until nothing moves. */
  page(enrolment?: Enrolment | null): Promise<FakePage>;
}

export function makeWorkbench(
  options: { replica?: MemoryReplica; random?: () => number } = {},
): Workbench {
  const clock = new FakeClock();
  const replica = options.replica ?? new MemoryReplica();
  const daemon = new FakeDaemon(makeBytes(7));
  const network = new LinkedNetwork((send, close) => daemon.accept(send, close));
  const faults: unknown[] = [];
  const locks = new Map<string, () => void>();
  const randomBytes = makeBytes(11);
  const makeSync = () =>
    new Sync({
      around: {
        openSocket: network.openSocket,
        fetchIdentity: async () => {
          if (!network.isReachable) throw new Error("unreachable");
          return daemon.identity();
        },
        crypto: nobleCrypto,
        randomBytes,
        clock,
        unpack: unpackAtOnce,
      },
      replica,
      storage: replica.storage,
      random: options.random ?? (() => 0.999),
      appVersion: "0",
      whenReleased: (lock) =>
        new Promise((resolve) => {
          locks.set(lock, resolve);
        }),
      report: (error) => faults.push(error),
    });
  const sync = makeSync();
  return {
    clock,
    replica,
    daemon,
    network,
    faults,
    locks,
    sync,
    makeSync,
    async page(enrolment = null) {
      const page = new FakePage(sync, enrolment);
      await network.deliver();
      return page;
    },
  };
}
