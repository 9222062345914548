// A device of a simulated world: a replica that outlasts everything, sync workers that may die at any
// moment, and their pages.

import { nodeCrypto } from "../../server/transport/node-crypto.ts";
import type { CommandId } from "../../shared/ids.ts";
import type { RandomBytes } from "../../shared/noise/noise-crypto.ts";
import type { Identity } from "../../shared/protocol/handshake.ts";
import type { LinkSurroundings } from "../../workers/sync/link.ts";
import { Sync } from "../../workers/sync/sync.ts";
import { MemoryReplica } from "../../workers/testing/memory-replica.ts";
import { SimulatedPage } from "./simulated-page.ts";
import type { ClockView, VirtualClock } from "./virtual-clock.ts";
import type { Accuse } from "./witness.ts";

export interface DeviceOptions {
  readonly name: string;
  readonly clock: VirtualClock;
  readonly skewMs: number;
  readonly openSocket: LinkSurroundings["openSocket"];
  readonly fetchIdentity: () => Promise<Identity>;
  readonly randomBytes: RandomBytes;
  /** In [0, 1). */
  readonly random: () => number;
  readonly accuse: Accuse;
  readonly shown: (key: string, text: string) => void;
  /** An entry leaves the outbox. */
  readonly forgotten: (commandId: CommandId) => void;
}

/** What a backup of a browser's profile holds. */
export type ReplicaCopy = Pick<
  MemoryReplica,
  "rows" | "blobs" | "wanted" | "outboxEntries" | "drafts" | "stored"
>;

export class SimulatedDevice {
  readonly name: string;
  readonly replica = new MemoryReplica();
  readonly workers: SimulatedWorker[] = [];
  readonly options: DeviceOptions;
  isAsleep = false;
  hadSecondWorker = false;
  #lastNumber = 0;
  #releaseDisk = () => {};
  isDiskSlow = false;

  constructor(options: DeviceOptions) {
    this.options = options;
    this.name = options.name;
  }

  get pages(): SimulatedPage[] {
    return this.workers.flatMap(({ pages }) => pages);
  }

  startWorker(): SimulatedWorker {
    this.#lastNumber += 1;
    const worker = new SimulatedWorker(this, `${this.name}.${this.#lastNumber}`);
    worker.clock.isAsleep = this.isAsleep;
    this.workers.push(worker);
    if (this.workers.length > 1) this.hadSecondWorker = true;
    return worker;
  }

  killWorker(worker: SimulatedWorker): void {
    worker.die();
    this.workers.splice(this.workers.indexOf(worker), 1);
  }

  sleep(): void {
    this.#setAsleep(true);
  }

  wake(): void {
    this.#setAsleep(false);
  }

  /** Pages wait to be stored until `speedUpDisk`. */
  slowDownDisk(): void {
    if (this.isDiskSlow) return;
    this.isDiskSlow = true;
    const released = new Promise<void>((resolve) => {
      this.#releaseDisk = resolve;
    });
    this.replica.beforeStore = () => released;
  }

  speedUpDisk(): void {
    this.isDiskSlow = false;
    this.#releaseDisk();
    this.replica.beforeStore = async () => {};
  }

  copyReplica(): ReplicaCopy {
    const { rows, blobs, wanted, outboxEntries, drafts, stored } = this.replica;
    return structuredClone({ rows, blobs, wanted, outboxEntries, drafts, stored });
  }

  /** No worker may live, and nothing may still be on its way to the disk. */
  restoreReplica(copy: ReplicaCopy): void {
    const { rows, blobs, wanted, outboxEntries, drafts, stored } = structuredClone(copy);
    fill(this.replica.rows, rows);
    fill(this.replica.blobs, blobs);
    fill(this.replica.wanted, wanted);
    fill(this.replica.outboxEntries, outboxEntries);
    fill(this.replica.drafts, drafts);
    this.replica.stored = stored;
  }

  #setAsleep(isAsleep: boolean): void {
    this.isAsleep = isAsleep;
    for (const { clock } of this.workers) clock.isAsleep = isAsleep;
  }
}

export class SimulatedWorker {
  readonly name: string;
  readonly device: SimulatedDevice;
  readonly clock: ClockView;
  pages: SimulatedPage[] = [];
  readonly #sync: Sync;
  readonly #sockets = new Set<{ close(): void }>();
  #isDead = false;
  #lastPage = 0;

  constructor(device: SimulatedDevice, name: string) {
    const { options } = device;
    this.name = name;
    this.device = device;
    this.clock = options.clock.view(options.skewMs);
    this.#sync = new Sync({
      around: {
        openSocket: (listener) => {
          const socket = options.openSocket({
            opened: () => this.#alive(() => listener.opened()),
            received: (frame) => this.#alive(() => listener.received(frame)),
            closed: () => this.#alive(() => listener.closed()),
          });
          this.#sockets.add(socket);
          return {
            send: (frame) => this.#alive(() => socket.send(frame)),
            close: () => socket.close(),
          };
        },
        fetchIdentity: options.fetchIdentity,
        crypto: nodeCrypto,
        randomBytes: options.randomBytes,
        clock: this.clock,
      },
      replica: this.#guard(device.replica),
      random: options.random,
      appVersion: "0",
      // Pages go by saying so, or with their worker.
      whenReleased: () => new Promise(() => {}),
      report: (error) => this.#alive(() => options.accuse(`${name} reported ${String(error)}`)),
    });
  }

  openPage(enrolment: string | null = null): SimulatedPage {
    const { accuse, shown } = this.device.options;
    this.#lastPage += 1;
    const page = new SimulatedPage({
      name: `${this.name}.${this.#lastPage}`,
      accept: (post) => this.#sync.accept(post),
      enrolment,
      accuse,
      shown,
    });
    this.pages.push(page);
    return page;
  }

  closePage(page: SimulatedPage): void {
    page.leave();
    this.pages = this.pages.filter((other) => other !== page);
  }

  /** At once, in the middle of whatever it does; what it asked the disk to store may be stored. */
  die(): void {
    this.#isDead = true;
    this.clock.stop();
    for (const page of this.pages) page.die();
    this.pages = [];
    for (const socket of this.#sockets) socket.close();
  }

  #alive(act: () => void): void {
    if (!this.#isDead) act();
  }

  #guard(replica: MemoryReplica): MemoryReplica {
    const { forgotten } = this.device.options;
    return new Proxy(replica, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          if (this.#isDead) return new Promise(() => {});
          if (name === "removeOutbox") forgotten(args[0] as CommandId);
          return Reflect.apply(value, target, args);
        };
      },
    });
  }
}

function fill<K, V>(map: Map<K, V>, entries: ReadonlyMap<K, V>): void {
  map.clear();
  for (const [key, value] of entries) map.set(key, value);
}
