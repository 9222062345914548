// The replica in IndexedDB. A row is kept as the change that brought it, under a key that makes a
// window of a session one range.

import * as z from "zod/mini";
import { applyChanges } from "../../shared/feed/apply-page.ts";
import { type CommandId, ID_PATTERN, type SessionId } from "../../shared/ids.ts";
import { type CommandMethod, isMethod, methods } from "../../shared/protocol/methods.ts";
import {
  blobHashSchema,
  type Change,
  changeSchema,
  sessionIdSchema,
} from "../../shared/protocol/rows.ts";
import {
  ask,
  lastNumber,
  openDatabase,
  REPLICA_STORES,
  ROW_STORES,
  write,
} from "./indexed-database.ts";
import { makeIndexedRowTarget } from "./indexed-row-target.ts";
import type {
  Drafts,
  Keyring,
  OutboxStore,
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
const bytesSchema = z.instanceof(Uint8Array);
const outboxSchema = z.array(
  z.object({
    commandId: z.pipe(
      z.string().check(z.regex(ID_PATTERN)),
      z.transform((id) => id as CommandId),
    ),
    method: z.pipe(
      z.string().check(z.refine((name) => isMethod(name) && methods[name].kind === "command")),
      z.transform((name) => name as CommandMethod),
    ),
    params: z.unknown(),
    state: z.enum(["waiting", "sent"]),
    createdAt: z.int(),
  }),
);

/** `onClosed`: the database is gone for good; this page's worker has to be started again. */
export async function openIndexedReplica(onClosed: () => void): Promise<Replica> {
  const db = await openDatabase(onClosed);
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
      return found === undefined ? null : read(z.object({ bytes: bytesSchema }), found).bytes;
    },
    async wantedBlobs(limit) {
      const store = db.transaction("wanted").objectStore("wanted");
      return read(wantedSchema, await ask(store.getAll(null, limit)));
    },
    keepBlob: ({ sessionId, hash }, bytes) =>
      write(
        db,
        ["blobs", "wanted"],
        (tx) => {
          tx.objectStore("blobs").put({ hash, bytes }, [sessionId, hash]);
          tx.objectStore("wanted").delete([sessionId, hash]);
        },
        "relaxed",
      ),
    giveUpBlob: ({ sessionId, hash }) =>
      write(db, ["wanted"], (tx) => {
        tx.objectStore("wanted").delete([sessionId, hash]);
      }),
  };
}

async function readPosition(tx: IDBTransaction): Promise<Position> {
  const found = await ask(tx.objectStore("position").get("position"));
  return found === undefined ? NOWHERE : read(positionSchema, found);
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

function outboxIn(db: IDBDatabase): OutboxStore {
  return {
    async outbox() {
      const store = db.transaction("outbox").objectStore("outbox");
      return read(outboxSchema, await ask(store.getAll()));
    },
    putOutbox: (entry) =>
      write(db, ["outbox"], async (tx) => {
        const store = tx.objectStore("outbox");
        const key = await ask(store.index("commandId").getKey(entry.commandId));
        if (typeof key === "number") store.put(entry, key);
        else store.put(entry);
      }),
    removeOutbox: (commandId) =>
      write(db, ["outbox"], async (tx) => {
        const store = tx.objectStore("outbox");
        const key = await ask(store.index("commandId").getKey(commandId));
        if (typeof key === "number") store.delete(key);
      }),
  };
}

function draftsIn(db: IDBDatabase): Drafts {
  return {
    async draft(sessionId) {
      const found = await ask(db.transaction("drafts").objectStore("drafts").get(sessionId));
      return typeof found === "string" ? found : "";
    },
    saveDraft: (sessionId, text) =>
      write(db, ["drafts"], (tx) => {
        const store = tx.objectStore("drafts");
        if (text === "") store.delete(sessionId);
        else store.put(text, sessionId);
      }),
  };
}

function keyringIn(db: IDBDatabase): Keyring {
  const bytesOrNull = async (request: IDBRequest): Promise<Uint8Array | null> => {
    const found = await ask(request);
    return found instanceof Uint8Array ? found : null;
  };
  return {
    deviceKeys: (make) =>
      write(db, ["identity"], async (tx) => {
        const store = tx.objectStore("identity");
        const privateKey = await bytesOrNull(store.get("privateKey"));
        const publicKey = await bytesOrNull(store.get("publicKey"));
        if (privateKey !== null && publicKey !== null) return { privateKey, publicKey };
        const made = make();
        store.put(made.privateKey, "privateKey");
        store.put(made.publicKey, "publicKey");
        return made;
      }),
    pinnedDaemon: () =>
      bytesOrNull(db.transaction("identity").objectStore("identity").get("daemon")),
    pinDaemon: (publicKey) =>
      write(db, ["identity"], (tx) => {
        const store = tx.objectStore("identity");
        if (publicKey === null) store.delete("daemon");
        else store.put(publicKey, "daemon");
      }),
  };
}
