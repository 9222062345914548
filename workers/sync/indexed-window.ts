// Reads a window of a session from IndexedDB: some requests that follow each other, with what belongs to them.

import * as z from "zod/mini";
import type { SessionId } from "../../shared/ids.ts";
import { type Change, changeSchema } from "../../shared/protocol/rows.ts";
import {
  type BodyChange,
  BUCKET_STORES,
  type Bucket,
  type BucketStore,
  bucketOf,
  bucketSchema,
  numberOf,
} from "./body-buckets.ts";
import { ask, lastNumber } from "./indexed-database.ts";
import { ReplicaError, type SessionWindow, type WindowEdge } from "./replica.ts";

/** About as many requests as a window has, and turns as those may have. */
const BUCKETS_PER_READ = { requests: 3, turns: 16 } as const satisfies Record<BucketStore, number>;

export async function readWindow(
  db: IDBDatabase,
  sessionId: SessionId,
  count: number,
  before: WindowEdge | null,
): Promise<SessionWindow> {
  const tx = db.transaction(["sessions", ...BUCKET_STORES, "leftOut"]);
  const [session, mark] = await Promise.all([
    ask(tx.objectStore("sessions").get(sessionId)),
    ask(tx.objectStore("leftOut").getKey(sessionId)),
  ]);
  if (session === undefined) return { found: false, isWhole: true, changes: [], earlier: null };
  const { requests, first, hasEarlier } = await readRequests(tx, sessionId, count, before?.seq);
  const requestIds = new Set(requests.map(({ id }) => id));
  const { bodies, turnId } = await readTurns(tx, sessionId, requestIds, before?.turnId ?? Infinity);
  const changes = [...read(changesSchema, [session]), ...requests, ...bodies];
  return {
    found: true,
    isWhole: mark === undefined,
    changes: changes.sort((a, b) => a.rev - b.rev),
    earlier: hasEarlier ? { seq: first, turnId: turnId ?? before?.turnId ?? null } : null,
  };
}

/** Those of the last `count` numbers below `below`, and the first of these numbers. */
async function readRequests(
  tx: IDBTransaction,
  sessionId: SessionId,
  count: number,
  below = Infinity,
): Promise<{ requests: Change[]; first: number; hasEarlier: boolean }> {
  const requests: Change[] = [];
  let first: number | null = null;
  for await (const found of backwards(tx, "requests", sessionId, below)) {
    const seqs = found.map(numberOf);
    first ??= Math.max(...seqs) - count + 1;
    const from = first;
    requests.push(...found.filter((change) => numberOf(change) >= from));
    if (seqs.some((seq) => seq < from)) return { requests, first, hasEarlier: true };
  }
  return { requests, first: first ?? 0, hasEarlier: false };
}

/** The turns of these requests before turn `before`, with their tool results: a request's turns adjoin. */
async function readTurns(
  tx: IDBTransaction,
  sessionId: SessionId,
  requestIds: ReadonlySet<string>,
  before: number,
): Promise<{ bodies: Change[]; turnId: number | null }> {
  const bodies: Change[] = [];
  const turnIds = new Set<number>();
  for await (const found of backwards(tx, "turns", sessionId, before)) {
    const turns = found.filter((change) => change.kind === "turn");
    const wanted = turns.filter(({ row }) => requestIds.has(row.requestId));
    for (const turn of wanted) turnIds.add(numberOf(turn));
    bodies.push(...found.filter((change) => turnIds.has(numberOf(change))));
    if (wanted.length < turns.length) break;
  }
  return { bodies, turnId: turnIds.size > 0 ? Math.min(...turnIds) : null };
}

/** The bodies with numbers below `below`, some buckets at a time, the latest first; never nothing at a time. */
async function* backwards(
  tx: IDBTransaction,
  name: BucketStore,
  sessionId: SessionId,
  below: number,
): AsyncGenerator<readonly BodyChange[]> {
  const store = tx.objectStore(name);
  const count = BUCKETS_PER_READ[name];
  let last = await lastNumber(store, sessionId, bucketOf(name, below) + 1);
  for (; last > 0; last -= count) {
    const range = IDBKeyRange.bound([sessionId, last - count + 1], [sessionId, last]);
    const found = (await readBodies(store.getAll(range))).filter(
      (change) => numberOf(change) < below,
    );
    if (found.length > 0) yield found;
  }
}

const changesSchema = z.array(changeSchema);
const bucketsSchema = z.array(bucketSchema);

/** Rejects with a `ReplicaError` if what is found is not what was written; so do the others here. */
export const readChanges = async (request: IDBRequest): Promise<Change[]> =>
  read(changesSchema, await ask(request));

export const readBodies = async (request: IDBRequest): Promise<BodyChange[]> =>
  read(bucketsSchema, await ask(request)).flatMap(({ changes }) => changes);

export async function readBucket(request: IDBRequest): Promise<Bucket | null> {
  const found = await ask(request);
  return found === undefined ? null : read(bucketSchema, found);
}

export function read<T extends z.ZodMiniType>(schema: T, found: unknown): z.output<T> {
  const parsed = schema.safeParse(found);
  if (parsed.success) return parsed.data;
  throw new ReplicaError(
    "damaged",
    "A record of this browser's copy is not as it was written.",
    parsed.error,
  );
}
