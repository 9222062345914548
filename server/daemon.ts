// Wires the parts of the daemon; nothing else knows them all.

import { randomBytes } from "node:crypto";
import { homedir, hostname, networkInterfaces } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Result } from "../shared/protocol/methods.ts";
import type { ServeOptions } from "./cli/arguments.ts";
import { prepareFolder } from "./cli/data-folder.ts";
import { hostNames } from "./cli/host-names.ts";
import { readIdentityKey } from "./cli/identity-key.ts";
import type { Clock } from "./clock.ts";
import { createDevices } from "./feed/devices.ts";
import { createHub } from "./feed/hub.ts";
import { Shares } from "./feed/shares.ts";
import type { Log } from "./log.ts";
import type { Dispatch } from "./methods/caller.ts";
import { createDispatch } from "./methods/dispatch.ts";
import { makeProviders } from "./providers/index.ts";
import { readBranch } from "./sessions/folder.ts";
import { createSessions } from "./sessions/sessions.ts";
import { lockFolder } from "./store/lock-folder.ts";
import { openSqliteStore } from "./store/sqlite-store.ts";
import type { Store } from "./store/store.ts";
import { tools } from "./tools/index.ts";
import { nodeCrypto } from "./transport/node-crypto.ts";
import { startTransport, type Transport } from "./transport/transport.ts";

/** How long running requests may take to record how far they came. */
const SESSIONS_CLOSE_MAX_MS = 2_000;
/** How long clients may take to read what is queued for them. */
const GOODBYE_MAX_MS = 1_000;

export interface DaemonOptions extends ServeOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Daemon {
  readonly origin: string;
  /** A fresh launch link. */
  link(): Result<"daemon.link">;
  /** Tells the clients, finishes writes, lets go of everything. */
  stop(): Promise<void>;
  /** After a bug: nothing but the store's file matters any more. */
  abandon(): Promise<void>;
}

/**
 * Resolves once it listens; null if another process holds the data folder. Rejects with a
 * `StartError`, `StoreError` or `TransportError`, having let go of everything.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon | null> {
  prepareFolder(options.dataDir);
  const unlock = lockFolder(options.dataDir);
  if (unlock === null) return null;
  try {
    return await startIn(options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function startIn(options: DaemonOptions, unlock: () => void): Promise<Daemon> {
  const { clock, dataDir, log } = options;
  const privateKey = readIdentityKey(dataDir);
  const store = await openSqliteStore({
    path: join(dataDir, "troupe.db"),
    clock,
    randomBytes,
    log,
  });
  try {
    return await startOn(store, options, privateKey, unlock);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function startOn(
  store: Store,
  options: DaemonOptions,
  privateKey: Uint8Array,
  unlock: () => void,
): Promise<Daemon> {
  const { clock, log, version } = options;
  let transport: Transport | null = null;
  const { devices, hub, link, name, sessions, shares } = makeParts(store, options, () => transport);
  await shares.start();
  await sessions.start();
  const listening = await startTransport({
    host: options.host,
    port: options.port,
    names: hostNames(options.host, machine()),
    filesDir: fileURLToPath(new URL("../web", import.meta.url)),
    unixSocketPath: options.socketPath,
    daemonName: name,
    daemonVersion: version,
    staticKeys: { privateKey, publicKey: nodeCrypto.publicKey(privateKey) },
    randomBytes,
    admit: devices.admit,
    accept: hub.accept,
    metrics: () => metricsText(transport, store),
    isReady: () => true,
    clock,
    log,
  });
  transport = listening;
  return {
    origin: listening.origin,
    link,
    async stop() {
      hub.beginShutdown();
      const closing = sessions.close();
      await Promise.race([closing, elapsed(clock, SESSIONS_CLOSE_MAX_MS)]);
      await listening.shutDown(GOODBYE_MAX_MS);
      await closing;
      shares.dispose();
      hub.dispose();
      await store.close();
      unlock();
    },
    abandon: () => store.close(),
  };
}

/** All but the ways in. `transport` gives null until it listens. */
function makeParts(store: Store, options: DaemonOptions, transport: () => Transport | null) {
  const { clock, log, version } = options;
  const name = hostname();
  const home = homedir();
  const shares = new Shares({ store, clock, log });
  const devices = createDevices({
    store,
    shares,
    clock,
    randomBytes,
    onRevoked: (deviceId, error) => transport()?.closeDevice(deviceId, error),
    onPromoted: (deviceId) => hub.closeDevice(deviceId),
  });
  // The hub passes calls on to the methods, which reach sessions, which tell the hub what happens.
  let dispatch: Dispatch | null = null;
  const hub = createHub({
    store,
    clock,
    dispatch: (peer, call) =>
      dispatch?.(peer, call) ?? Promise.reject(new Error("A call came before the methods")),
    daemon: { name, version },
    log,
  });
  const providers = makeProviders(clock);
  const sessions = createSessions(
    { store, live: hub.live, providers, tools, clock, log, readBranch },
    home,
  );
  const link = (): Result<"daemon.link"> => {
    const origin = transport()?.origin;
    if (origin === undefined) throw new Error("A link was asked for before there was an origin");
    const { secret, expiresAt } = devices.makeLaunchToken();
    return { url: `${origin}/#enrol=${secret}`, expiresAt };
  };
  const status = (): Result<"daemon.status"> => ({
    version,
    pid: process.pid,
    origin: transport()?.origin ?? "",
    connections: transport()?.connections() ?? 0,
  });
  const { renameDevice: rename, revokeDevice: revoke, afterRevoke } = devices;
  dispatch = createDispatch({
    store,
    clock,
    sessions,
    devices: { rename, revoke, afterRevoke },
    shares,
    providers,
    daemon: { link, status },
    home,
  });
  return { devices, hub, link, name, sessions, shares };
}

const elapsed = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.after(ms, resolve);
  });

function machine() {
  const addresses = Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).map(({ address }) => address),
  );
  return { hostName: hostname(), addresses };
}

function metricsText(transport: Transport | null, store: Store): string {
  const gauges = {
    troupe_connections: transport?.connections() ?? 0,
    troupe_queued_bytes: transport?.queuedBytes() ?? 0,
    troupe_feed_head: store.head,
    process_resident_memory_bytes: process.memoryUsage.rss(),
    process_uptime_seconds: process.uptime(),
  };
  return Object.entries(gauges)
    .map(([name, value]) => `# TYPE ${name} gauge\n${name} ${value}\n`)
    .join("");
}
