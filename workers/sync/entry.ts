// The sync worker's composition root: a SharedWorker for all pages, or a dedicated worker per page
// where there is none. The code is the same; only how pages come differs.

import * as z from "zod/mini";
import { version } from "../../package.json";
import { nobleCrypto } from "../../shared/noise/noble-crypto.ts";
import { identitySchema } from "../../shared/protocol/handshake.ts";
import { workerClock } from "../clock.ts";
import { openIndexedReplica } from "./indexed-replica.ts";
import type { PageMessage, SyncMessage } from "./port.ts";
import { Sync } from "./sync.ts";
import { makeOpenSocket } from "./web-socket.ts";

/** A page's side: its port, or the worker's own scope. */
interface PageEnd {
  onmessage: ((event: MessageEvent) => unknown) | null;
  postMessage(message: SyncMessage): void;
}

const IDENTITY_TIMEOUT_MS = 5_000;

// Schemas are compiled with `new Function` otherwise, which the content security policy forbids.
z.config({ jitless: true });

const scope = self;
const { location } = scope;
const socketUrl = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws`;

async function fetchIdentity() {
  const signal = AbortSignal.timeout(IDENTITY_TIMEOUT_MS);
  const response = await fetch("/identity", { cache: "no-store", signal });
  return identitySchema.parse(await response.json());
}

async function start(): Promise<Sync> {
  let sync: Sync | null = null;
  const replica = await openIndexedReplica({
    blocked: () => {
      for (const post of waiting)
        post(refused("another tab still uses an older version; close it."));
    },
    closed: () => {
      sync?.storageFailed(new Error("it was taken away; reload this page."));
      // The pages get a worker that opens it anew; this one never can.
      scope.close();
    },
  });
  sync = new Sync({
    around: {
      openSocket: makeOpenSocket(socketUrl),
      fetchIdentity,
      crypto: nobleCrypto,
      randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
      clock: workerClock,
    },
    replica,
    random: Math.random,
    appVersion: version,
    whenReleased: async (lock) => {
      await scope.navigator.locks.request(lock, () => {});
    },
    report: (error) => scope.reportError(error),
  });
  return sync;
}

/** Pages that came before the storage could be opened. */
const waiting = new Set<(message: SyncMessage) => void>();
const starting = start();

/** Held from when the storage is open: pages replace a worker that dies, not one that never began. */
function holdLife(): Promise<string | null> {
  const { locks } = scope.navigator;
  // Plain http on a network address has no locks.
  if (locks === undefined) return Promise.resolve(null);
  const lock = `troupe-sync-${crypto.randomUUID()}`;
  return new Promise((resolve) => {
    void locks.request(lock, () => {
      resolve(lock);
      return new Promise<never>(() => {});
    });
  });
}

const living = starting.then(holdLife, () => null);

function refused(reason: string): SyncMessage {
  const message = `This browser's storage cannot be opened: ${reason}`;
  const error = { code: "storage_failed", message, retryable: false } as const;
  return { type: "connection", state: { kind: "refused", error, daemon: null }, syncedAt: null };
}

function accept(page: PageEnd): void {
  const post = (message: SyncMessage) => page.postMessage(message);
  waiting.add(post);
  const accepting = starting.then(
    (sync) => {
      waiting.delete(post);
      void living.then((lock) => {
        if (lock !== null) post({ type: "alive", lock });
      });
      return sync.accept(post);
    },
    (error: unknown) => {
      post(refused(error instanceof Error ? error.message : String(error)));
      // A reload may find it mended; this worker would only say the same again.
      scope.close();
      return () => {};
    },
  );
  page.onmessage = ({ data }: MessageEvent<PageMessage>) => {
    void accepting.then((receive) => receive(data));
  };
}

const isShared = (worker: object): worker is SharedWorkerGlobalScope => "onconnect" in worker;
const isDedicated = (worker: object): worker is DedicatedWorkerGlobalScope =>
  "postMessage" in worker;

if (isShared(scope)) {
  scope.onconnect = ({ ports }) => {
    for (const port of ports) accept(port);
  };
} else if (isDedicated(scope)) accept(scope);
