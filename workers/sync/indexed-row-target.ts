// Where `applyChanges` writes in IndexedDB, within the page's transaction. Bodies are collected, and written
// once it is known which of their records change. The caller says up to which rev a row is known already.

import { assertNever } from "../../shared/assert-never.ts";
import type { RowTarget } from "../../shared/feed/apply-page.ts";
import type { SessionId } from "../../shared/ids.ts";
import { blobsOfRow } from "../../shared/protocol/rows.ts";
import { BUCKET_STORES, type BucketEdits, editBucket, SessionEdits } from "./body-buckets.ts";
import { ofSession } from "./indexed-database.ts";
import { readBodies, readBucket } from "./indexed-window.ts";

export interface IndexedRowTarget extends RowTarget {
  /** Writes the bodies that were given; call once, at last. Rejects with a `ReplicaError`. */
  writeBodies(): Promise<void>;
}

export function makeIndexedRowTarget(
  tx: IDBTransaction,
  knownRev: RowTarget["knownRev"],
): IndexedRowTarget {
  const sessions = tx.objectStore("sessions");
  const devices = tx.objectStore("devices");
  const shares = tx.objectStore("shares");
  const grants = tx.objectStore("grants");
  const wanted = tx.objectStore("wanted");
  const edits = new Map<SessionId, SessionEdits>();
  const editsOf = (sessionId: SessionId): SessionEdits => {
    const known = edits.get(sessionId) ?? new SessionEdits();
    edits.set(sessionId, known);
    return known;
  };
  return {
    knownRev,
    put(change) {
      const { id } = change;
      switch (change.kind) {
        case "session":
          sessions.put(change, id);
          return;
        case "device":
          devices.put(change, id);
          return;
        case "share":
          shares.put(change, [change.sessionId, id]);
          return;
        case "grant":
          grants.put(change, [change.sessionId, id]);
          return;
        case "request":
        case "turn":
        case "toolResult": {
          const { sessionId } = change;
          editsOf(sessionId).put(change);
          for (const hash of blobsOfRow(change.row)) {
            wanted.put({ sessionId, hash }, [sessionId, hash]);
          }
          return;
        }
        default:
          assertNever(change);
      }
    },
    remove(kind, sessionId, id) {
      switch (kind) {
        case "session":
          sessions.delete(id);
          return;
        case "device":
          devices.delete(id);
          return;
        case "share":
          if (sessionId !== null) shares.delete([sessionId, id]);
          return;
        case "grant":
          if (sessionId !== null) grants.delete([sessionId, id]);
          return;
        case "request":
        case "turn":
        case "toolResult":
          if (sessionId !== null) editsOf(sessionId).remove(kind, id);
          return;
        default:
          assertNever(kind);
      }
    },
    removeSession(sessionId) {
      sessions.delete(sessionId);
      for (const store of [shares, grants]) store.delete(ofSession(sessionId));
      tx.objectStore("leftOut").delete(sessionId);
      edits.delete(sessionId);
      dropBodies(tx, sessionId);
    },
    async writeBodies() {
      await Promise.all([...edits].map(([sessionId, edit]) => writeSession(tx, sessionId, edit)));
    },
  };
}

async function writeSession(
  tx: IDBTransaction,
  sessionId: SessionId,
  edits: SessionEdits,
): Promise<void> {
  if (edits.hasUnplaced) {
    edits.place(await readBodies(tx.objectStore("requests").getAll(ofSession(sessionId))));
  }
  const writing = BUCKET_STORES.flatMap((store) =>
    [...edits.buckets[store]].map(([bucket, edit]) =>
      writeBucket(tx.objectStore(store), [sessionId, bucket], edit),
    ),
  );
  await Promise.all(writing);
}

async function writeBucket(
  store: IDBObjectStore,
  key: [SessionId, number],
  edits: BucketEdits,
): Promise<void> {
  const bucket = editBucket(await readBucket(store.get(key)), edits);
  if (bucket === null) store.delete(key);
  else store.put(bucket, key);
}

/** With the blobs that they name. */
export function dropBodies(tx: IDBTransaction, sessionId: SessionId): void {
  for (const name of [...BUCKET_STORES, "blobs", "wanted"] as const) {
    tx.objectStore(name).delete(ofSession(sessionId));
  }
}
