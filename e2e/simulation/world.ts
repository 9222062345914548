// A simulated world: one daemon, its database and copies of it, some devices, the network between them
// and one clock. It offers what can happen; what does happen is chosen elsewhere.

import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shareIdOf } from "../../server/feed/shares.ts";
import { makeSeededRandom, type SeededRandom } from "../../server/testing/seeded-random.ts";
import { nodeCrypto } from "../../server/transport/node-crypto.ts";
import { type CommandId, type SessionId, toBase64Url, toFingerprint } from "../../shared/ids.ts";
import { CONNECTION_QUEUE_MAX_BYTES } from "../../shared/limits.ts";
import { type KeyPair, makeKeyPair, type RandomBytes } from "../../shared/noise/noise-crypto.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import { History } from "./history.ts";
import { hops, quiet } from "./quiet.ts";
import { SimulatedDaemon } from "./simulated-daemon.ts";
import { type BrowserKind, type ReplicaCopy, SimulatedDevice } from "./simulated-device.ts";
import { SimulatedNetwork } from "./simulated-network.ts";
import type { Answer, SimulatedPage } from "./simulated-page.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** What a page was asked to send. */
export interface Issued {
  readonly commandId: CommandId;
  readonly method: CommandMethod;
  params: { readonly sessionId?: string; readonly [field: string]: unknown };
  readonly device: SimulatedDevice;
  readonly page: SimulatedPage;
  /** Texts it was to have instead, of which no page was told whether it has. */
  readonly maySay: Set<unknown>;
  /** What the page was told. */
  answer: Answer | null;
  /** The page was told that it will never be sent, or has forgotten that it was refused. */
  isWithdrawn: boolean;
  /** Some page asked for that: it may have been gone before it was told. */
  isGivenUp: boolean;
  /** The device forgot it by right: it died before it could store it, or is a copy from before. */
  isExcused: boolean;
}

export interface Counts {
  steps: number;
  prompts: number;
  crashes: number;
  restarts: number;
  restores: number;
  deviceRestores: number;
  reloads: number;
  resyncs: number;
  drops: number;
  evictions: number;
  fills: number;
  links: number;
  amended: number;
  withdrawn: number;
  handOvers: number;
}

/** A link by which a session was shared. */
export interface Link {
  readonly sessionId: SessionId;
  readonly shareId: string;
  readonly secret: string;
}

interface Copy {
  readonly path: string;
  readonly history: History;
}

const DAY_MS = 24 * 60 * 60_000;
const IN_MEMORY = "/dev/shm";

export class World {
  readonly random: SeededRandom;
  readonly clock = new VirtualClock();
  readonly network = new SimulatedNetwork();
  readonly devices: SimulatedDevice[] = [];
  readonly commands = new Map<CommandId, Issued>();
  readonly histories: History[] = [new History(0)];
  readonly faults: string[] = [];
  /** Devices that came by a link to a session. */
  viewers = 0;
  /** Made at a page, with the secret that opens it. */
  readonly links: Link[] = [];
  readonly counts: Counts = {
    steps: 0,
    prompts: 0,
    crashes: 0,
    restarts: 0,
    restores: 0,
    deviceRestores: 0,
    reloads: 0,
    resyncs: 0,
    drops: 0,
    evictions: 0,
    fills: 0,
    links: 0,
    amended: 0,
    withdrawn: 0,
    handOvers: 0,
  };
  /** Null while it is down. */
  daemon: SimulatedDaemon | null = null;
  readonly #bytes: RandomBytes;
  readonly #keys: KeyPair;
  readonly #folder: string;
  #files = 0;
  /** How far the daemon's machine is from the world's time. */
  #daemonSkewMs = 0;
  /** What may wait for one connection (F7). */
  queueMaxBytes: number;
  /** Of the database as it is while the daemon is down. */
  #path: string;
  #copies: Copy[] = [];
  readonly #replicas = new Map<SimulatedDevice, ReplicaCopy>();
  /** Commands that have left their outbox. */
  readonly #dropped = new Set<CommandId>();

  constructor(seed: number) {
    this.random = makeSeededRandom(seed);
    const byte = makeSeededRandom(seed ^ 0x5eed);
    this.#bytes = (length) => Uint8Array.from({ length }, () => byte.below(256));
    this.#keys = makeKeyPair(nodeCrypto, this.#bytes);
    // A commit waits for the disk; there are thousands, and none of them has to outlast this process.
    const base = existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir();
    this.queueMaxBytes = this.random.pick([30_000, 120_000, CONNECTION_QUEUE_MAX_BYTES]);
    this.#folder = mkdtempSync(join(base, "troupe-simulation-"));
    this.#path = this.#freshPath();
  }

  readonly accuse = (what: string): void => void this.faults.push(what);

  get history(): History {
    return this.histories.at(-1) ?? this.histories[0] ?? new History(0);
  }

  get copies(): number {
    return this.#copies.length;
  }

  async dispose(): Promise<void> {
    this.daemon?.kill(this.#freshPath());
    await this.daemon?.bury();
    for (const device of this.devices) {
      for (const worker of [...device.workers]) device.killWorker(worker);
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  addDevice(skewMs: number, kind: BrowserKind): SimulatedDevice {
    const name = `d${this.devices.length}`;
    const device = new SimulatedDevice({
      name,
      clock: this.clock,
      skewMs,
      kind,
      openSocket: this.network.socketsOf(name),
      fetchIdentity: async () => {
        if (this.daemon === null) throw new Error("Nobody answers");
        return {
          name: "simulated",
          version: "0",
          protocol: 1,
          publicKey: toBase64Url(this.#keys.publicKey),
          fingerprint: toFingerprint(nodeCrypto.hash(this.#keys.publicKey)),
        };
      },
      randomBytes: this.#bytes,
      random: () => this.random.below(1_000) / 1_000,
      accuse: this.accuse,
      shown: (key, text) => this.#shown(key, text),
      evicted: () => {
        this.counts.evictions += 1;
      },
      handedOver: () => {
        this.counts.handOvers += 1;
      },
      forgotten: (commandId) => this.#forgotten(commandId),
    });
    this.devices.push(device);
    return device;
  }

  /** A link to a session, whose share is yet to be made. */
  makeLink(sessionId: SessionId): Link {
    const secret = toBase64Url(this.#bytes(16));
    const link = { sessionId, secret, shareId: shareIdOf(secret) };
    this.links.push(link);
    return link;
  }

  freshCommandId(): CommandId {
    return toBase64Url(this.#bytes(16)) as CommandId;
  }

  issue(
    device: SimulatedDevice,
    page: SimulatedPage,
    command: { commandId: CommandId; method: CommandMethod; params: Issued["params"] },
  ): void {
    const { commandId, method, params } = command;
    const issued: Issued = {
      ...command,
      device,
      page,
      answer: null,
      maySay: new Set(),
      isWithdrawn: false,
      isGivenUp: false,
      isExcused: false,
    };
    this.commands.set(commandId, issued);
    const answered = (answer: Answer) => {
      issued.answer = answer;
    };
    page.command(method, params, { commandId, answered });
  }

  async startDaemon(): Promise<void> {
    const daemon = new SimulatedDaemon({
      path: this.#path,
      clock: this.clock.view(this.#daemonSkewMs),
      queueMaxBytes: this.queueMaxBytes,
      randomBytes: this.#bytes,
      staticKeys: this.#keys,
      history: this.history,
      accuse: this.accuse,
      told: ({ type, ...message }) => {
        if (type === "welcome" && "resync" in message && message.resync) this.counts.resyncs += 1;
        if (type === "fill") this.counts.fills += 1;
      },
      maySee: (deviceId, sessionId) =>
        sessionId !== null &&
        this.devices.some(({ id, links }) => id === deviceId && links.has(sessionId)),
      readingMs: () => (this.random.oneIn(6) ? this.random.pick([1, 20, 300]) : 0),
    });
    await daemon.start();
    this.daemon = daemon;
    await this.settle();
  }

  /** Kills the daemon after so many promise reactions more. */
  async crashDaemon(reactions: number): Promise<void> {
    await hops(reactions);
    const { daemon } = this;
    if (daemon === null) return;
    const path = this.#freshPath();
    daemon.kill(path);
    this.#path = path;
    await this.#gone(daemon);
  }

  /** Resolves when it is down. `meanwhile` moves the world. */
  async stopDaemon(meanwhile: () => Promise<void>): Promise<void> {
    const { daemon } = this;
    if (daemon === null) return;
    let isStopped = false;
    this.daemon = null;
    const stopping = daemon.stop().then(() => {
      isStopped = true;
    });
    for (let round = 0; !isStopped && round < 100; round += 1) {
      await meanwhile();
      await this.clock.advance(50);
    }
    if (!isStopped) throw new Error("The daemon does not stop");
    await stopping;
    for (const socket of this.network.sockets) socket.daemonDied();
    await this.settle();
  }

  /** Keeps a copy of the database as it is now. */
  copyDatabase(): void {
    if (this.daemon === null) return;
    const path = this.#freshPath();
    this.daemon.copyTo(path);
    this.#copies.push({ path, history: this.history.fork(this.histories.length) });
  }

  /** The machine was off, or its clock was put on. */
  passDays(days: number): void {
    this.#daemonSkewMs += days * DAY_MS;
  }

  /** Puts an earlier copy in the place of the database; the daemon has to be started then. */
  async restoreDatabase(which: number): Promise<void> {
    const copy = this.#copies[which];
    if (copy === undefined) return;
    const { daemon } = this;
    if (daemon !== null) {
      daemon.kill(this.#freshPath());
      await this.#gone(daemon);
    }
    this.#path = this.#freshPath();
    for (const suffix of ["", "-wal", "-shm"]) {
      if (existsSync(copy.path + suffix)) copyFileSync(copy.path + suffix, this.#path + suffix);
    }
    this.histories.push(copy.history.fork(this.histories.length));
  }

  keepReplica(device: SimulatedDevice): void {
    this.#replicas.set(device, device.copyReplica());
  }

  /** False: there is no copy of it. The device is left without a worker. */
  async restoreReplica(device: SimulatedDevice): Promise<boolean> {
    const copy = this.#replicas.get(device);
    if (copy === undefined) return false;
    for (const worker of [...device.workers]) device.killWorker(worker);
    device.speedUpDisk();
    await this.settle();
    device.restoreReplica(copy);
    this.excuseUnstored(device);
    // What it had settled since is in its outbox again, and the daemon may think differently now.
    for (const commandId of copy.outboxEntries.keys()) {
      const issued = this.commands.get(commandId);
      if (issued !== undefined) issued.isExcused = true;
    }
    return true;
  }

  /**
   * A worker of the device died: what it was told and had not stored yet is lost by right. That a command was
   * refused may be such a thing: then it is sent again.
   */
  excuseUnstored(device: SimulatedDevice): void {
    for (const issued of this.commands.values()) {
      if (issued.device !== device) continue;
      const entry = device.replica.outboxEntries.get(issued.commandId);
      const isGone = issued.answer === null && !device.pages.includes(issued.page);
      if (isGone && entry === undefined) issued.isExcused = true;
      const isRefused = issued.answer?.kind === "failure" && entry?.state === "sent";
      if (isRefused) issued.isExcused = true;
    }
  }

  /** Whatever a device was told to send is stored until it has an answer (F5). */
  checkOutboxes(): void {
    for (const { commandId, device, ...issued } of this.commands.values()) {
      if (issued.answer !== null || issued.isExcused || issued.isWithdrawn) continue;
      if (device.isDiskSlow || device.hadLittleRoom || this.#dropped.has(commandId)) continue;
      // It may be on its way to the tab that leads.
      if (device.kind === "elected") continue;
      if (!device.replica.outboxEntries.has(commandId)) {
        this.accuse(`[F5] ${commandId} is not in the outbox of ${device.name} and has no answer`);
      }
    }
  }

  /** Everything that moves by itself has moved. */
  async settle(): Promise<void> {
    await quiet();
    await this.daemon?.model.notice();
  }

  async #gone(daemon: SimulatedDaemon): Promise<void> {
    this.daemon = null;
    // What the dead one still does to its history is not history.
    this.histories.splice(-1, 1, this.history.fork(this.history.number));
    for (const socket of this.network.sockets) socket.daemonDied();
    await quiet();
    await daemon.bury();
    await this.settle();
  }

  #freshPath(): string {
    this.#files += 1;
    return join(this.#folder, `${this.#files}.db`);
  }

  #shown(key: string, text: string): void {
    const isTrue = this.histories.some(({ said }) => said.get(key)?.startsWith(text));
    if (!isTrue) this.accuse(`[S2] what was shown of ${key} was never said: ${text.slice(-40)}`);
  }

  #forgotten(commandId: CommandId): void {
    this.#dropped.add(commandId);
    const isAnswered = this.histories.some(
      ({ answered, refused }) => answered.has(commandId) || refused.has(commandId),
    );
    if (!isAnswered) this.accuse(`[F5] the outbox dropped ${commandId}, which has no answer`);
  }
}
