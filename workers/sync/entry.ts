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
  const replica = await openIndexedReplica(() =>
    sync?.storageFailed(new Error("another version of Troupe has taken over; reload this page.")),
  );
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
    report: (error) => scope.reportError(error),
  });
  return sync;
}

const starting = start();

function accept(page: PageEnd): void {
  const post = (message: SyncMessage) => page.postMessage(message);
  const accepting = starting.then(
    (sync) => sync.accept(post),
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `This browser's storage cannot be opened: ${reason}`;
      const refusal = { code: "internal", message, retryable: false } as const;
      const state = { kind: "refused", error: refusal, daemon: null } as const;
      post({ type: "connection", state, syncedAt: null });
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
