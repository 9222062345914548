// The replica in IndexedDB. A row is kept as the change that brought it, under a key that makes a
// window of a session one range.

import * as z from "zod/mini";
import { applyChanges } from "../../shared/feed/apply-page.ts";
import type { BlobHash, SessionId } from "../../shared/ids.ts";
import {
  blobHashSchema,
  type Change,
  changeSchema,
  sessionIdSchema,
} from "../../shared/protocol/rows.ts";
import {
  ask,
  BLOB_USERS,
  isBlobUsed,
  lastNumber,
  openDatabase,
  REPLICA_STORES,
  ROW_STORES,
  write,
} from "./indexed-database.ts";
import { draftsIn, keyringIn, outboxIn } from "./indexed-own.ts";
import { makeIndexedRowTarget } from "./indexed-row-target.ts";
import type {
  PageToStore,
  Position,
  Replica,
  ReplicaRows,
  SessionWindow,
  WindowEdge,
} from "./replica.ts";
import { ReplicaError } from "./replica.ts";

const PAGE_STORES = [...ROW_STORES, "blobs", "wanted", "position"] as const;
const TURNS_PER_READ = 64;
const NOWHERE: Position = { epoch: null, cursor: 0, token: null, syncedAt: null };

const positionSchema = z.object({
  epoch: z.nullable(z.string()),
  cursor: z.int(),
  token: z.nullable(z.string()),
  syncedAt: z.nullable(z.int()),
});
const wantedSchema = z.array(z.object({ sessionId: sessionIdSchema, hash: blobHashSchema }));
const blobSchema = z.object({ bytes: z.instanceof(Uint8Array) });
const hashesSchema = z.array(z.tuple([sessionIdSchema, blobHashSchema]));
/** `closed`: the database is gone for good; this page's worker has to be started again. */
export async function openIndexedReplica(on: Parameters<typeof openDatabase>[0]): Promise<Replica> {
  const db = await openDatabase(on);
  return { ...rowsIn(db), ...outboxIn(db), ...draftsIn(db), ...keyringIn(db) };
}

function rowsIn(db: IDBDatabase): ReplicaRows {
  return {
    position: () => readPosition(db.transaction("position")),
    restart: (epoch) =>
      write(db, REPLICA_STORES, (tx) => {
        for (const name of REPLICA_STORES) tx.objectStore(name).clear();
        tx.objectStore("position").put({ ...NOWHERE, epoch }, "position");
      }),
    storePage: (page) => write(db, PAGE_STORES, (tx) => storePage(tx, page), "relaxed"),
    async rail() {
      const tx = db.transaction(["sessions", "devices"]);
      const [sessions, devices] = await Promise.all([
        readChanges(tx.objectStore("sessions").getAll()),
        readChanges(tx.objectStore("devices").getAll()),
      ]);
      return [...sessions, ...devices].sort((a, b) => a.rev - b.rev);
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

/** A position that cannot be read is none: the daemon then sends everything anew. */
async function readPosition(tx: IDBTransaction): Promise<Position> {
  const found = await ask(tx.objectStore("position").get("position"));
  const parsed = positionSchema.safeParse(found);
  return parsed.success ? parsed.data : NOWHERE;
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
  const looking = db.transaction(["blobs", ...BLOB_USERS]);
  const unused: IDBValidKey[] = [];
  for (const key of read(hashesSchema, await ask(looking.objectStore("blobs").getAllKeys()))) {
    if (!(await isBlobUsed(looking, key[1]))) unused.push(key);
  }
  if (unused.length === 0) return;
  await write(db, ["blobs", ...BLOB_USERS], async (tx) => {
    for (const key of read(hashesSchema, unused)) {
      if (!(await isBlobUsed(tx, key[1]))) tx.objectStore("blobs").delete(key);
    }
  });
}

async function storePage(tx: IDBTransaction, page: PageToStore): Promise<boolean> {
  const { epoch, cursor } = await readPosition(tx);
  if (epoch !== page.epoch || cursor < page.base) return false;
  applyChanges(makeIndexedRowTarget(tx, cursor), page.changes);
  if (page.upto >= cursor) {
    const { upto, token, at } = page;
    const position: Position = { epoch, cursor: upto, token, syncedAt: at };
    tx.objectStore("position").put(position, "position");
  }
  return true;
}

async function readWindow(
  db: IDBDatabase,
  sessionId: SessionId,
  count: number,
  before: WindowEdge | null,
): Promise<SessionWindow> {
  const tx = db.transaction(["sessions", "requests", "turns", "toolResults"]);
  const session = await ask(tx.objectStore("sessions").get(sessionId));
  if (session === undefined) return { found: false, changes: [], earlier: null };
  const requestStore = tx.objectStore("requests");
  const newest = await lastNumber(requestStore, sessionId, before?.seq ?? Infinity);
  const first = newest - count + 1;
  const requests = await readChanges(
    requestStore.getAll(IDBKeyRange.bound([sessionId, first], [sessionId, newest])),
  );
  const below = await lastNumber(requestStore, sessionId, first);
  const requestIds = new Set(requests.map(({ id }) => id));
  const turns = await readTurns(
    tx.objectStore("turns"),
    sessionId,
    requestIds,
    before?.turnId ?? Infinity,
  );
  const turnIds = turns.map(({ id }) => Number(id));
  const [from, to] = [Math.min(...turnIds), Math.max(...turnIds)];
  const results =
    turns.length === 0
      ? []
      : await readChanges(
          tx
            .objectStore("toolResults")
            .getAll(IDBKeyRange.bound([sessionId, from], [sessionId, to, []])),
        );
  const changes = [...read(changesSchema, [session]), ...requests, ...turns, ...results];
  return {
    found: true,
    changes: changes.sort((a, b) => a.rev - b.rev),
    earlier:
      below === 0
        ? null
        : { seq: first, turnId: turns.length > 0 ? from : (before?.turnId ?? null) },
  };
}

/** The turns of these requests before turn `before`, read backwards: a request's turns adjoin. */
async function readTurns(
  store: IDBObjectStore,
  sessionId: SessionId,
  requestIds: ReadonlySet<string>,
  before: number,
): Promise<Change[]> {
  const turns: Change[] = [];
  let last = await lastNumber(store, sessionId, before);
  for (;;) {
    const from = last - TURNS_PER_READ + 1;
    const found = await readChanges(
      store.getAll(IDBKeyRange.bound([sessionId, from], [sessionId, last])),
    );
    const wanted = found.filter(
      ({ kind, row }) => kind === "turn" && row !== null && requestIds.has(row.requestId),
    );
    turns.push(...wanted);
    if (wanted.length < found.length || from <= 1) return turns;
    last = from - 1;
  }
}

const changesSchema = z.array(changeSchema);
const readChanges = async (request: IDBRequest): Promise<Change[]> =>
  read(changesSchema, await ask(request));

function read<T extends z.ZodMiniType>(schema: T, found: unknown): z.output<T> {
  const parsed = schema.safeParse(found);
  if (parsed.success) return parsed.data;
  throw new ReplicaError(
    "damaged",
    "A record of this browser's copy is not as it was written.",
    parsed.error,
  );
}
