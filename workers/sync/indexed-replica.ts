// The replica in IndexedDB. A row is kept as the change that brought it, under a key that makes a
// window of a session one range.

import * as z from "zod/mini";
import type { BlobHash, SessionId } from "../../shared/ids.ts";
import { blobHashSchema, sessionIdSchema } from "../../shared/protocol/rows.ts";
import { BUCKET_STORES } from "./body-buckets.ts";
import { ask, isBlobUsed, openDatabase, REPLICA_STORES, write } from "./indexed-database.ts";
import {
  FEED_STORES,
  leaveOut,
  readPosition,
  startOver,
  storeFill,
  storePage,
} from "./indexed-feed.ts";
import { choicesIn, draftsIn, keyringIn, outboxIn } from "./indexed-own.ts";
import { read, readChanges, readWindow } from "./indexed-window.ts";
import type { Replica, ReplicaRows } from "./replica.ts";

/** So much randomness is given at a time. */
const NOISE_MAX_BYTES = 65_536;

const wantedSchema = z.array(z.object({ sessionId: sessionIdSchema, hash: blobHashSchema }));
const blobSchema = z.object({ bytes: z.instanceof(Uint8Array) });
const blobKeySchema = z.custom<[SessionId, BlobHash]>(
  (key) => Array.isArray(key) && key.length === 2 && key.every((part) => typeof part === "string"),
);
const blobKeysSchema = z.array(blobKeySchema);

/** `closed`: the database is gone for good; this page's worker has to be started again. */
export async function openIndexedReplica(on: Parameters<typeof openDatabase>[0]): Promise<Replica> {
  const db = await openDatabase(on);
  return { ...rowsIn(db), ...outboxIn(db), ...draftsIn(db), ...choicesIn(db), ...keyringIn(db) };
}

function rowsIn(db: IDBDatabase): ReplicaRows {
  return {
    position: () => readPosition(db.transaction(["position", "leftOut"])),
    restart: (epoch, leftOut) =>
      write(db, REPLICA_STORES, (tx) => {
        for (const name of REPLICA_STORES) tx.objectStore(name).clear();
        startOver(tx, epoch, leftOut);
      }),
    storePage: (page) => write(db, FEED_STORES, (tx) => storePage(tx, page), "relaxed"),
    storeFill: (fill) => write(db, FEED_STORES, (tx) => storeFill(tx, fill), "relaxed"),
    leaveOut: (sessionIds, which) =>
      write(
        db,
        FEED_STORES,
        async (tx) => leaveOut(tx, which === "all" ? sessionIds : await knownOf(tx, sessionIds)),
        "relaxed",
      ),
    keepReserve: (bytes) =>
      write(db, ["reserve"], async (tx) => {
        const store = tx.objectStore("reserve");
        if ((await ask(store.count())) === 0) store.put(noise(bytes), "reserve");
      }),
    dropReserve: () =>
      write(db, ["reserve"], async (tx) => {
        const store = tx.objectStore("reserve");
        const count = await ask(store.count());
        store.clear();
        return count !== 0;
      }),
    async rail() {
      const stores = ["sessions", "devices", "shares", "grants"] as const;
      const tx = db.transaction(stores);
      const found = await Promise.all(
        stores.map((name) => readChanges(tx.objectStore(name).getAll())),
      );
      return found.flat().sort((a, b) => a.rev - b.rev);
    },
    window: (sessionId, count, before) => readWindow(db, sessionId, count, before),
    async blob(hash) {
      const found = await ask(db.transaction("blobs").objectStore("blobs").index("hash").get(hash));
      return found === undefined ? null : read(blobSchema, found).bytes;
    },
    async wantedBlobs(limit) {
      const store = db.transaction("wanted").objectStore("wanted");
      return read(wantedSchema, await ask(store.getAll(null, limit)));
    },
    keepBlob: (hash, bytes) =>
      write(db, ["blobs", "wanted"], (tx) => keepBlob(tx, hash, bytes), "relaxed"),
    giveUpBlob: ({ sessionId, hash }) =>
      write(db, ["wanted"], (tx) => {
        tx.objectStore("wanted").delete([sessionId, hash]);
      }),
    dropUnusedBlobs: () => dropUnusedBlobs(db),
  };
}

async function knownOf(tx: IDBTransaction, sessionIds: readonly SessionId[]): Promise<SessionId[]> {
  const sessions = tx.objectStore("sessions");
  const keys = await Promise.all(sessionIds.map((sessionId) => ask(sessions.getKey(sessionId))));
  return sessionIds.filter((_, n) => keys[n] !== undefined);
}

/** What cannot be compressed. */
function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let from = 0; from < length; from += NOISE_MAX_BYTES) {
    crypto.getRandomValues(bytes.subarray(from, from + NOISE_MAX_BYTES));
  }
  return bytes;
}

async function keepBlob(tx: IDBTransaction, hash: BlobHash, bytes: Uint8Array): Promise<void> {
  const wanted = tx.objectStore("wanted");
  for (const { sessionId } of read(wantedSchema, await ask(wanted.index("hash").getAll(hash)))) {
    tx.objectStore("blobs").put({ hash, bytes }, [sessionId, hash]);
    wanted.delete([sessionId, hash]);
  }
}

/** Looks while others may write, then makes sure of the few that were found: writers wait for those alone. */
async function dropUnusedBlobs(db: IDBDatabase): Promise<void> {
  const looking = db.transaction(["blobs", ...BUCKET_STORES]);
  const unused: IDBValidKey[] = [];
  for (const key of read(blobKeysSchema, await ask(looking.objectStore("blobs").getAllKeys()))) {
    if (!(await isBlobUsed(looking, key[1]))) unused.push(key);
  }
  if (unused.length === 0) return;
  await write(db, ["blobs", ...BUCKET_STORES], async (tx) => {
    for (const key of read(blobKeysSchema, unused)) {
      if (!(await isBlobUsed(tx, key[1]))) tx.objectStore("blobs").delete(key);
    }
  });
}
