// The daemon's core on a database file of its own: store, devices, hub, sessions, methods and queued
// connections, wired as in the real one. It can be stopped, or detached: then whatever it still does
// reaches nobody, as if its process had been killed.

import { copyFileSync, existsSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { createDevices, type Devices } from "../../server/feed/devices.ts";
import { createHub, type Hub } from "../../server/feed/hub.ts";
import { Shares } from "../../server/feed/shares.ts";
import type { Log, LogFields } from "../../server/log.ts";
import type { Dispatch } from "../../server/methods/caller.ts";
import { createDispatch } from "../../server/methods/dispatch.ts";
import { createSessions, type Sessions } from "../../server/sessions/sessions.ts";
import { openSqliteStore } from "../../server/store/sqlite-store.ts";
import type { Store } from "../../server/store/store.ts";
import { Admissions } from "../../server/transport/admissions.ts";
import { type Connections, makeConnections } from "../../server/transport/connections.ts";
import { QueueBudget } from "../../server/transport/queue-budget.ts";
import type { DeviceId, SessionId } from "../../shared/ids.ts";
import { CONNECTIONS_MAX } from "../../shared/limits.ts";
import type { KeyPair, RandomBytes } from "../../shared/noise/noise-crypto.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import { serveSocket } from "./daemon-socket.ts";
import type { History } from "./history.ts";
import { SimulatedModel } from "./simulated-model.ts";
import type { DaemonSocket } from "./simulated-network.ts";
import type { ClockView } from "./virtual-clock.ts";
import { type Accuse, EventRevs, witnessConnections, witnessLive } from "./witness.ts";

const VERSION = "0";
const GOODBYE_MS = 1_000;
/** Every machine has it, so that it is the same in every run. */
export const FOLDER = "/";

export interface SimulatedDaemonOptions {
  readonly path: string;
  readonly clock: ClockView;
  readonly randomBytes: RandomBytes;
  readonly staticKeys: KeyPair;
  readonly history: History;
  readonly accuse: Accuse;
  /** Every message that any client is sent. */
  readonly told: (message: DaemonMessage) => void;
  readonly queueMaxBytes: number;
  /** Whether the device was ever given a link to the session. */
  readonly maySee: (deviceId: DeviceId, sessionId: SessionId | null) => boolean;
  /** How long the next page takes to read; mostly 0, which is as long as promises take. */
  readonly readingMs: () => number;
}

interface Parts {
  readonly store: Store;
  readonly devices: Devices;
  readonly shares: Shares;
  readonly hub: Hub;
  readonly sessions: Sessions;
  readonly admissions: Admissions;
  readonly connections: Connections;
}

export class SimulatedDaemon {
  readonly history: History;
  readonly model: SimulatedModel;
  readonly path: string;
  readonly #options: SimulatedDaemonOptions;
  #parts: Parts | null = null;
  #isDetached = false;

  constructor(options: SimulatedDaemonOptions) {
    this.#options = options;
    this.history = options.history;
    this.path = options.path;
    this.model = new SimulatedModel(options.history, (what) => this.#accuse(what));
  }

  /** Nobody can connect before it has resolved. */
  async start(): Promise<void> {
    const { path, clock, randomBytes, history, told, queueMaxBytes } = this.#options;
    const log = this.#log();
    const accuse: Accuse = (what) => this.#accuse(what);
    const store = await openSqliteStore({ path, clock, randomBytes, log });
    const shares = new Shares({ store, clock, log });
    const devices = createDevices({
      store,
      shares,
      clock,
      randomBytes,
      onRevoked: (deviceId, error) => {
        admissions.turnAway(deviceId, error);
        connections.expel(deviceId, error);
      },
      onPromoted: (deviceId) => hub.closeDevice(deviceId),
    });
    let dispatch: Dispatch = () => Promise.reject(new Error("A call came before the methods"));
    const hub = createHub({
      store: this.#slowly(store),
      clock,
      dispatch: (peer, call) => this.#witnessCall(dispatch(peer, call), call.commandId),
      daemon: { name: "simulated", version: VERSION },
      log,
      // On no other thread: virtual time does not wait for one.
      deflate: async (bytes) => new Uint8Array(deflateRawSync(bytes)),
    });
    const revs = new EventRevs();
    const { provider, probe } = this.model;
    const live = witnessLive(hub.live, history, revs);
    const readBranch = async () => null;
    const sessions = createSessions(
      { store, live, providers: [provider], tools: [probe], clock, log, readBranch },
      FOLDER,
    );
    dispatch = this.#makeDispatch({ store, devices, shares, sessions });
    const admissions = new Admissions({
      admit: devices.admit,
      daemonVersion: VERSION,
      connectionsMax: CONNECTIONS_MAX,
      log,
    });
    const accept = witnessConnections(hub.accept, {
      history,
      revs,
      accuse,
      told,
      maySee: this.#options.maySee,
    });
    const connections = makeConnections({
      accept,
      budget: new QueueBudget(queueMaxBytes),
      clock,
      log,
    });
    await shares.start();
    await sessions.start();
    this.#parts = { store, devices, shares, hub, sessions, admissions, connections };
  }

  #makeDispatch({
    store,
    devices,
    shares,
    sessions,
  }: Pick<Parts, "store" | "devices" | "shares" | "sessions">) {
    return createDispatch({
      store,
      clock: this.#options.clock,
      sessions,
      providers: [this.model.provider],
      devices: {
        rename: devices.renameDevice,
        revoke: devices.revokeDevice,
        afterRevoke: devices.afterRevoke,
      },
      shares,
      daemon: {
        link: () => ({ url: "", expiresAt: 0 }),
        status: () => ({ version: VERSION, pid: 0, origin: "", connections: 0 }),
      },
      home: FOLDER,
    });
  }

  get store(): Store {
    return this.#running.store;
  }

  launchSecret(): string {
    return this.#running.devices.makeLaunchToken().secret;
  }

  accept(socket: DaemonSocket) {
    const { admissions, connections } = this.#running;
    const { staticKeys, randomBytes, clock } = this.#options;
    const shielded: DaemonSocket = {
      send: (frame, taken) => {
        if (!this.#isDetached) socket.send(frame, taken);
      },
      close: () => {
        if (!this.#isDetached) socket.close();
      },
      destroy: () => {
        if (!this.#isDetached) socket.destroy();
      },
    };
    const failed = (error: unknown) => this.#accuse(`a frame met a bug: ${String(error)}`);
    const options = { staticKeys, randomBytes, admissions, connections, clock, failed };
    return serveSocket(shielded, options);
  }

  /** As the real one stops: says so, records what ran, writes what is queued, closes. */
  async stop(): Promise<void> {
    const { hub, sessions, admissions, connections, store } = this.#running;
    hub.beginShutdown();
    const closing = sessions.close();
    await closing;
    const decided = admissions.close();
    await connections.shutDown(GOODBYE_MS);
    await decided;
    hub.dispose();
    await store.close();
    this.#options.clock.stop();
  }

  /** From now on it is dead to everyone. Its database stays as it is at this moment, at `copy`. */
  kill(copy: string): void {
    this.copyTo(copy);
    this.#isDetached = true;
    this.#options.clock.stop();
  }

  /** The files as another process would find them now. */
  copyTo(copy: string): void {
    for (const suffix of ["", "-wal", "-shm"]) {
      if (existsSync(this.path + suffix)) copyFileSync(this.path + suffix, copy + suffix);
    }
  }

  /** Lets go of the files of a dead one. */
  async bury(): Promise<void> {
    await this.#parts?.store.close().catch(() => {});
  }

  get #running(): Parts {
    if (this.#parts === null) throw new Error("The daemon has not started");
    return this.#parts;
  }

  /** A store that may be far away: what happens meanwhile must not overtake the rows (F6). */
  #slowly(store: Store): Store {
    const { clock, readingMs } = this.#options;
    const page: Store["page"] = async (after, visibility) => {
      const ms = readingMs();
      if (ms > 0) await new Promise<void>((resolve) => clock.after(ms, resolve));
      return store.page(after, visibility);
    };
    return new Proxy(store, {
      get: (target, name) => {
        if (name === "page") return page;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  async #witnessCall(answering: Promise<unknown>, commandId: string | null): Promise<unknown> {
    const { answered, refused } = this.history;
    try {
      const value = await answering;
      if (commandId !== null && !this.#isDetached) {
        answered.add(commandId);
        refused.delete(commandId);
      }
      return value;
    } catch (error) {
      if (error instanceof Failure && commandId !== null && !this.#isDetached) {
        if (!answered.has(commandId)) refused.add(commandId);
      }
      throw error;
    }
  }

  #log(): Log {
    const quiet = () => {};
    const complain = (fields: LogFields, message: string) =>
      this.#accuse(`the daemon logged "${message}": ${JSON.stringify(fields)}`);
    return { debug: quiet, info: quiet, warn: quiet, error: complain };
  }

  #accuse(what: string): void {
    if (!this.#isDetached) this.#options.accuse(what);
  }
}
