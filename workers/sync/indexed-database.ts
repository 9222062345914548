// The database's stores, and IndexedDB's requests as promises. Which record lies where is said here.

import type { SessionId } from "../../shared/ids.ts";

/** Raise it when a row's shape or key changes: the rows are dropped and synced anew. */
const VERSION = 1;

/** Rows are the changes that brought them. */
export const ROW_STORES = [
  /** By session. */
  "sessions",
  /** By [session, seq], with an index on the request's id. */
  "requests",
  /** By [session, turn]. */
  "turns",
  /** By [session, turn, call]. */
  "toolResults",
  /** By device. */
  "devices",
] as const;

/** What a restart drops. */
export const REPLICA_STORES = [
  ...ROW_STORES,
  /** By [session, hash], with an index on the hash. */
  "blobs",
  /** Blobs that rows refer to and that are not here yet, by [session, hash]. */
  "wanted",
  "position",
] as const;

/** The device's own: no version of the app drops these. */
const OWN_STORES = ["identity", "outbox", "drafts"] as const;

export type StoreName = (typeof REPLICA_STORES)[number] | (typeof OWN_STORES)[number];

/** `onClosed`: a newer version of the app asked for the database, or the browser took it away. */
export async function openDatabase(onClosed: () => void): Promise<IDBDatabase> {
  const opening = indexedDB.open("troupe", VERSION);
  opening.onupgradeneeded = () => prepareStores(opening.result);
  await ask(opening);
  const db = opening.result;
  db.onversionchange = () => {
    db.close();
    onClosed();
  };
  db.onclose = onClosed;
  return db;
}

function prepareStores(db: IDBDatabase): void {
  for (const name of REPLICA_STORES) {
    if (db.objectStoreNames.contains(name)) db.deleteObjectStore(name);
    const store = db.createObjectStore(name);
    if (name === "requests") store.createIndex("id", "id");
    if (name === "blobs") store.createIndex("hash", "hash");
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
