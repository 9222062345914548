// The database's stores, and IndexedDB's requests as promises. Which record lies where is said here.

import type { SessionId } from "../../shared/ids.ts";
import { BUCKET_STORES } from "./body-buckets.ts";

/** Raise it when a row's shape or key changes: the rows are dropped and synced anew. */
const VERSION = 3;

/** Rows are the changes that brought them. */
export const ROW_STORES = [
  /** By session. */
  "sessions",
  /** By [session, bucket], with an index on the blobs of each. */
  ...BUCKET_STORES,
  /** By device. */
  "devices",
  /** By [session, share]. */
  "shares",
  /** By [session, device]. */
  "grants",
] as const;

/** What a restart drops. */
export const REPLICA_STORES = [
  ...ROW_STORES,
  /** By [session, hash], with an index on the hash. */
  "blobs",
  /** Blobs that rows refer to and that are not here yet, by [session, hash], with an index on the hash. */
  "wanted",
  /** By session, those whose bodies are left out, each with the connection that fills it or null. */
  "leftOut",
  /** One large record that means nothing: see `keepReserve`. */
  "reserve",
  "position",
] as const;

/** The device's own: no version of the app drops these. */
const OWN_STORES = ["identity", "outbox", "drafts", "choices"] as const;

export type StoreName = (typeof REPLICA_STORES)[number] | (typeof OWN_STORES)[number];

/**
 * `onBlocked`: a page of an older version has not let go of the database yet; it opens once that does.
 * `onClosed`: a newer version of the app asked for the database, or the browser took it away.
 */
export async function openDatabase(on: { blocked(): void; closed(): void }): Promise<IDBDatabase> {
  const opening = indexedDB.open("troupe", VERSION);
  opening.onblocked = () => on.blocked();
  opening.onupgradeneeded = () => {
    if (opening.transaction !== null) prepareStores(opening.result, opening.transaction);
  };
  await ask(opening);
  const db = opening.result;
  db.onversionchange = () => {
    db.close();
    on.closed();
  };
  db.onclose = () => on.closed();
  return db;
}

function prepareStores(db: IDBDatabase, upgrade: IDBTransaction): void {
  for (const name of REPLICA_STORES) {
    if (db.objectStoreNames.contains(name)) db.deleteObjectStore(name);
    const store = db.createObjectStore(name);
    if (name === "blobs" || name === "wanted") store.createIndex("hash", "hash");
  }
  for (const name of BUCKET_STORES) {
    upgrade.objectStore(name).createIndex("blobs", "blobs", { multiEntry: true });
  }
  for (const name of OWN_STORES) {
    if (db.objectStoreNames.contains(name)) continue;
    const store = db.createObjectStore(name, { autoIncrement: name === "outbox" });
    if (name === "outbox") store.createIndex("commandId", "commandId", { unique: true });
  }
}

/** Runs `work` in one transaction; resolves once it is complete. Nothing is written if it fails. */
export async function write<T>(
  db: IDBDatabase,
  stores: readonly StoreName[],
  work: (tx: IDBTransaction) => T | Promise<T>,
  durability: IDBTransactionDurability = "default",
): Promise<T> {
  const tx = db.transaction(stores, "readwrite", { durability });
  const complete = new Promise<void>((resolve, reject) => {
    tx.oncomplete = () => resolve();
    tx.onabort = () => reject(tx.error ?? new Error("The transaction was aborted."));
  });
  const worked = (async () => {
    try {
      return await work(tx);
    } catch (error) {
      tx.abort();
      throw error;
    }
  })();
  const [value] = await Promise.all([worked, complete]);
  return value;
}

export function ask(request: IDBRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** True if some row kept names this blob; needs the stores of buckets. */
export async function isBlobUsed(tx: IDBTransaction, hash: string): Promise<boolean> {
  const keys = await Promise.all(
    BUCKET_STORES.map((name) => ask(tx.objectStore(name).index("blobs").getKey(hash))),
  );
  return keys.some((key) => key !== undefined);
}

/** The keys `[sessionId, …]`: an array is greater than any number or string. */
export const ofSession = (sessionId: SessionId): IDBKeyRange =>
  IDBKeyRange.bound([sessionId], [sessionId, []]);

/** The greatest n < `below` of the keys `[sessionId, n]`; 0 if there is none. */
export async function lastNumber(
  store: IDBObjectStore,
  sessionId: SessionId,
  below: number,
): Promise<number> {
  const range = IDBKeyRange.bound([sessionId], [sessionId, below], false, true);
  const cursor = await ask(store.openKeyCursor(range, "prev"));
  const key = cursor instanceof IDBCursor ? cursor.key : null;
  const number = Array.isArray(key) ? key[1] : null;
  return typeof number === "number" ? number : 0;
}
