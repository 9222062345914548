// A device of a simulated world: a replica that outlasts everything, sync workers that may die at any
// moment, and their pages.

import { deviceIdOf } from "../../server/feed/devices.ts";
import { nodeCrypto } from "../../server/transport/node-crypto.ts";
import type { CommandId, DeviceId, SessionId } from "../../shared/ids.ts";
import type { RandomBytes } from "../../shared/noise/noise-crypto.ts";
import type { Identity } from "../../shared/protocol/handshake.ts";
import type { LinkSurroundings } from "../../workers/sync/link.ts";
import type { Enrolment, PageMessage, SyncMessage } from "../../workers/sync/port.ts";
import { isOutOfRoom } from "../../workers/sync/replica.ts";
import { Sync } from "../../workers/sync/sync.ts";
import { TabWorker } from "../../workers/sync/tab-worker.ts";
import { FakeBrowser, type FakeScope } from "../../workers/testing/fake-browser.ts";
import { MemoryReplica } from "../../workers/testing/memory-replica.ts";
import { unpackAtOnce } from "../../workers/testing/unpack-at-once.ts";
import { SimulatedPage } from "./simulated-page.ts";
import type { ClockView, VirtualClock } from "./virtual-clock.ts";
import type { Accuse } from "./witness.ts";

export interface DeviceOptions {
  readonly name: string;
  readonly clock: VirtualClock;
  readonly skewMs: number;
  readonly kind: BrowserKind;
  readonly openSocket: LinkSurroundings["openSocket"];
  readonly fetchIdentity: () => Promise<Identity>;
  readonly randomBytes: RandomBytes;
  /** In [0, 1). */
  readonly random: () => number;
  readonly accuse: Accuse;
  readonly shown: (key: string, text: string) => void;
  readonly evicted: () => void;
  readonly handedOver: () => void;
  /** An entry leaves the outbox. */
  readonly forgotten: (commandId: CommandId) => void;
}

/** More than the titles that may still come take. */
const ROOM_FOR_TITLES_BYTES = 100_000;

/** What a backup of a browser's profile holds. */
export type ReplicaCopy = Pick<
  MemoryReplica,
  "rows" | "blobs" | "wanted" | "marks" | "outboxEntries" | "drafts" | "stored"
>;

/** How the browser's pages come by an engine. */
export type BrowserKind =
  /** One SharedWorker for all. */
  | "shared"
  /** A worker for each page, of which one leads. */
  | "elected"
  /** An engine for each page: no SharedWorker, and no locks. */
  | "apart";

export class SimulatedDevice {
  readonly name: string;
  readonly replica = new MemoryReplica();
  readonly workers: SimulatedWorker[] = [];
  readonly options: DeviceOptions;
  readonly kind: BrowserKind;
  readonly browser = new FakeBrowser();
  /** Sessions that it was given links to. */
  readonly links = new Set<SessionId>();
  isAsleep = false;
  /** Several engines wrote at once. */
  hadSecondEngine = false;
  #lastNumber = 0;
  #releaseDisk = () => {};
  isDiskSlow = false;
  hadLittleRoom = false;

  constructor(options: DeviceOptions) {
    this.options = options;
    this.name = options.name;
    this.kind = options.kind;
  }

  /** Null until it was enrolled. */
  get id(): DeviceId | null {
    const { keys } = this.replica;
    return keys === null ? null : deviceIdOf(keys.publicKey);
  }

  get pages(): SimulatedPage[] {
    return this.workers.flatMap(({ pages }) => pages);
  }

  startWorker(): SimulatedWorker {
    this.#lastNumber += 1;
    const worker = new SimulatedWorker(this, `${this.name}.${this.#lastNumber}`);
    worker.clock.isAsleep = this.isAsleep;
    this.workers.push(worker);
    if (this.workers.length > 1 && this.kind === "apart") this.hadSecondEngine = true;
    return worker;
  }

  killWorker(worker: SimulatedWorker): void {
    worker.die();
    this.workers.splice(this.workers.indexOf(worker), 1);
  }

  /** Another tab took the lead from this worker, which ends; its page starts one anew. */
  replaceWorker(worker: SimulatedWorker): void {
    if (!this.workers.includes(worker)) return;
    this.hadSecondEngine = true;
    this.options.handedOver();
    const pages = worker.releasePages();
    this.killWorker(worker);
    const successor = this.startWorker();
    for (const page of pages) successor.adopt(page);
  }

  /** What it stores from now on has to fit into so much more than it holds. */
  limitRoom(bytes: number): void {
    this.replica.roomBytes = this.replica.usedBytes + bytes;
    this.replica.quotaBytes = Math.ceil(this.replica.roomBytes / 0.6);
    this.hadLittleRoom = true;
  }

  /** What is here stays, and titles that come fit in: pinned and open sessions never leave for them. */
  leaveRoomForTitles(): void {
    const { replica } = this;
    replica.roomBytes = Math.max(replica.roomBytes, replica.usedBytes + ROOM_FOR_TITLES_BYTES);
  }

  unlimitRoom(): void {
    this.replica.roomBytes = Infinity;
    this.replica.quotaBytes = null;
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
    const { rows, blobs, wanted, marks, outboxEntries, drafts, stored } = this.replica;
    return structuredClone({ rows, blobs, wanted, marks, outboxEntries, drafts, stored });
  }

  /** No worker may live, and nothing may still be on its way to the disk. */
  restoreReplica(copy: ReplicaCopy): void {
    const { rows, blobs, wanted, marks, outboxEntries, drafts, stored } = structuredClone(copy);
    fill(this.replica.rows, rows);
    fill(this.replica.blobs, blobs);
    fill(this.replica.wanted, wanted);
    fill(this.replica.marks, marks);
    fill(this.replica.outboxEntries, outboxEntries);
    fill(this.replica.drafts, drafts);
    this.replica.stored = stored;
  }

  #setAsleep(isAsleep: boolean): void {
    this.isAsleep = isAsleep;
    for (const { clock, isFrozen } of this.workers) clock.isAsleep = isAsleep || isFrozen;
  }
}

export class SimulatedWorker {
  readonly name: string;
  readonly device: SimulatedDevice;
  readonly clock: ClockView;
  pages: SimulatedPage[] = [];
  isFrozen = false;
  readonly #scope: FakeScope;
  /** The engine that all its pages share; one that follows has none. */
  #sync: Sync | null = null;
  readonly #sockets = new Set<{ close(): void }>();
  #isDead = false;
  #lastPage = 0;

  constructor(device: SimulatedDevice, name: string) {
    this.name = name;
    this.device = device;
    this.clock = device.options.clock.view(device.options.skewMs);
    this.#scope = device.browser.scope();
    if (device.kind === "elected") {
      void this.#scope.locks.request(name, {}, () => new Promise(() => {}));
    }
  }

  /** Runs an engine. */
  get isLeading(): boolean {
    return this.#sync !== null;
  }

  openPage(enrolment: Enrolment | null = null): SimulatedPage {
    const { accuse, shown, evicted } = this.device.options;
    this.#lastPage += 1;
    const page = new SimulatedPage({
      name: `${this.name}.${this.#lastPage}`,
      accept: (post) => this.#accept(post),
      enrolment,
      accuse,
      shown,
      evicted,
    });
    this.pages.push(page);
    return page;
  }

  closePage(page: SimulatedPage): void {
    page.leave();
    this.pages = this.pages.filter((other) => other !== page);
  }

  /** Takes up a page whose worker has ended. */
  adopt(page: SimulatedPage): void {
    this.pages.push(page);
    page.moveTo((post) => this.#accept(post));
  }

  releasePages(): SimulatedPage[] {
    const { pages } = this;
    this.pages = [];
    return pages;
  }

  /** A tab in the background of a phone: nothing reaches it, and it holds what it holds. */
  freeze(): void {
    this.isFrozen = true;
    this.clock.isAsleep = true;
    this.#scope.freeze();
  }

  thaw(): void {
    if (!this.isFrozen) return;
    this.isFrozen = false;
    this.clock.isAsleep = this.device.isAsleep;
    this.#scope.thaw();
  }

  #accept(post: (message: SyncMessage) => void): (message: PageMessage) => void {
    if (this.device.kind !== "elected") {
      this.#sync ??= this.#makeSync();
      return this.#sync.accept(post);
    }
    const { random, accuse } = this.device.options;
    const { locks, openChannel } = this.#scope;
    const worker = new TabWorker({
      build: "0",
      life: this.name,
      locks,
      openChannel,
      clock: this.clock,
      random,
      post: (message) => this.#scope.task(() => post(message)),
      lead: () => {
        const sync = this.#makeSync();
        this.#sync = sync;
        return (to) => sync.accept(to);
      },
      stepDown: () => this.device.replaceWorker(this),
      report: (error) => this.#alive(() => accuse(`${this.name} reported ${String(error)}`)),
    });
    worker.start();
    return (message) => this.#scope.task(() => worker.receive(message));
  }

  #makeSync(): Sync {
    const { device } = this;
    const { options } = device;
    const { locks } = this.#scope;
    return new Sync({
      around: {
        openSocket: (listener) => {
          const socket = options.openSocket({
            opened: () => this.#task(() => listener.opened()),
            received: (frame) => this.#task(() => listener.received(frame)),
            closed: () => this.#task(() => listener.closed()),
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
        unpack: unpackAtOnce,
      },
      replica: this.#guard(device.replica),
      storage: device.replica.storage,
      random: options.random,
      appVersion: "0",
      // Where nobody is elected, pages go by saying so, or with their worker.
      whenReleased: async (lock) => {
        if (device.kind === "elected") await locks.request(lock, {}, async () => {});
        else await new Promise(() => {});
      },
      report: (error) => {
        if (device.hadLittleRoom && isOutOfRoom(error)) return;
        this.#alive(() => options.accuse(`${this.name} reported ${String(error)}`));
      },
    });
  }

  /** One that is frozen takes it up when it thaws. */
  #task(act: () => void): void {
    if (this.isFrozen) this.#scope.task(act);
    else this.#alive(act);
  }

  /** At once, in the middle of whatever it does; what it asked the disk to store may be stored. */
  die(): void {
    this.#isDead = true;
    this.#scope.end();
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
