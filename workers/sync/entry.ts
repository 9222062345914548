// The sync worker's composition root. A SharedWorker runs the engine for all pages. Where there is none
// each page has a worker: one of them runs the engine for all, or, without locks, each for its own page.

import * as z from "zod/mini";
import { version } from "../../package.json";
import { nobleCrypto } from "../../shared/noise/noble-crypto.ts";
import { identitySchema } from "../../shared/protocol/handshake.ts";
import { workerClock } from "../clock.ts";
import { browserStorage } from "./browser-storage.ts";
import { openIndexedReplica } from "./indexed-replica.ts";
import type { Accept } from "./leader.ts";
import { type PageMessage, type SyncMessage, scriptMissing } from "./port.ts";
import { Sync } from "./sync.ts";
import { makeUnpack } from "./unpack.ts";
import { makeOpenSocket } from "./web-socket.ts";

/** A page's side: its port, or the worker's own scope. */
interface PageEnd {
  onmessage: ((event: MessageEvent) => unknown) | null;
  postMessage(message: SyncMessage): void;
}

type Receive = ReturnType<Accept>;

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

async function openSync(blocked: (reason: string) => void): Promise<Sync> {
  let sync: Sync | null = null;
  const replica = await openIndexedReplica({
    blocked: () => blocked("another tab still uses an older version; close it."),
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
      unpack: makeUnpack(),
    },
    replica,
    storage: browserStorage(scope.navigator.storage),
    random: Math.random,
    appVersion: version,
    whenReleased: async (lock) => {
      await scope.navigator.locks.request(lock, () => {});
    },
    report: (error) => scope.reportError(error),
  });
  return sync;
}

/** Starts the engine; gives what takes pages. */
function startEngine(living: Promise<string | null>): Accept {
  /** Pages that came before the storage could be opened. */
  const waiting = new Set<(message: SyncMessage) => void>();
  const starting = openSync((reason) => {
    for (const post of waiting) post(refused(reason));
  });
  return (post) => {
    waiting.add(post);
    const accepting = starting.then(
      (sync) => {
        waiting.delete(post);
        // Pages replace a worker that dies, not one that never began.
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
    return (message) => void accepting.then((receive) => receive(message));
  };
}

/** Null: plain http on a network address has no locks. */
function holdLife(): Promise<string | null> {
  const { locks } = scope.navigator;
  if (locks === undefined) return Promise.resolve(null);
  const lock = `troupe-sync-${crypto.randomUUID()}`;
  return new Promise((resolve) => {
    void locks.request(lock, () => {
      resolve(lock);
      return new Promise<never>(() => {});
    });
  });
}

function refused(reason: string): SyncMessage {
  const message = `This browser's storage cannot be opened: ${reason}`;
  const error = { code: "storage_failed", message, retryable: false } as const;
  return { type: "connection", state: { kind: "refused", error, daemon: null }, syncedAt: null };
}

function serve(
  page: PageEnd,
  begin: (post: (message: SyncMessage) => void) => Promise<Receive>,
): void {
  const receiving = begin((message) => page.postMessage(message));
  page.onmessage = ({ data }: MessageEvent<PageMessage>) => {
    void receiving.then((receive) => receive(data));
  };
}

const isShared = (worker: object): worker is SharedWorkerGlobalScope => "onconnect" in worker;
const isDedicated = (worker: object): worker is DedicatedWorkerGlobalScope =>
  "postMessage" in worker;

const living = holdLife();
if (isShared(scope)) {
  const accept = startEngine(living);
  scope.onconnect = ({ ports }) => {
    for (const port of ports) serve(port, async (post) => accept(post));
  };
} else if (isDedicated(scope)) {
  serve(scope, async (post) => {
    const life = await living;
    const lead = () => startEngine(living);
    if (life === null) return lead()(post);
    try {
      const { joinTabs } = await import("./join-tabs.ts");
      return joinTabs({ life, post, lead });
    } catch (error) {
      post(scriptMissing());
      throw error;
    }
  });
}
