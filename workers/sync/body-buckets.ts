// How a session's bodies are laid into records: several rows in each, because a store of the browser takes
// longer for every record than for what is in it. Which rows lie together, and what becomes of a record
// when some of them change, is said here; nothing here knows a database.

import * as z from "zod/mini";
import type { BlobHash } from "../../shared/ids.ts";
import {
  type BODY_KINDS,
  blobHashSchema,
  blobsOfRow,
  type Change,
  changeSchema,
  isBodyKind,
  type RowByKind,
} from "../../shared/protocol/rows.ts";

/** Requests by their seq; turns by their id, with their tool results. */
export const BUCKET_STORES = ["requests", "turns"] as const;
export type BucketStore = (typeof BUCKET_STORES)[number];

/**
 * All of a record is written when one of its rows changes. Most stay below 64 KiB: Chromium puts a longer one
 * into a file of its own.
 */
const NUMBERS_PER_BUCKET = { requests: 16, turns: 4 } as const satisfies Record<
  BucketStore,
  number
>;

type BodyKind = (typeof BODY_KINDS)[number];
export type BodyChange = {
  [K in BodyKind]: Extract<Change, { kind: K }> & { readonly row: RowByKind[K] };
}[BodyKind];

const isBody = (change: Change): change is BodyChange =>
  isBodyKind(change.kind) && change.row !== null;

export interface Bucket {
  readonly changes: readonly BodyChange[];
  /** What its rows name, once each. */
  readonly blobs: readonly BlobHash[];
}

const bodyChangeSchema = changeSchema.check(z.refine(isBody)) as unknown as z.ZodMiniType<
  BodyChange,
  unknown
>;

export const bucketSchema = z.object({
  changes: z.array(bodyChangeSchema),
  blobs: z.array(blobHashSchema),
});

/** From 1 on. */
export const bucketOf = (store: BucketStore, number: number): number =>
  1 + Math.floor(number / NUMBERS_PER_BUCKET[store]);

/** A request's seq; the turn of a turn or tool result. */
export function numberOf(change: BodyChange): number {
  switch (change.kind) {
    case "request":
      return change.row.seq;
    case "turn":
      return Number(change.id);
    case "toolResult":
      return change.row.turnId;
  }
}

/** What becomes of rows, by `rowKey`: null, it goes. */
export type BucketEdits = Map<string, BodyChange | null>;

const rowKey = (kind: string, id: string): string => `${kind} ${id}`;

/** Null: nothing is left in it. */
export function editBucket(bucket: Bucket | null, edits: BucketEdits): Bucket | null {
  const kept = (bucket?.changes ?? []).filter(({ kind, id }) => !edits.has(rowKey(kind, id)));
  const changes = [...kept, ...[...edits.values()].filter((change) => change !== null)];
  if (changes.length === 0) return null;
  return { changes, blobs: [...new Set(changes.flatMap(({ row }) => blobsOfRow(row)))] };
}

/** Which buckets of one session change, and how. */
export class SessionEdits {
  readonly buckets = {
    requests: new Map<number, BucketEdits>(),
    turns: new Map<number, BucketEdits>(),
  };
  /** Requests that go: a tombstone does not say where they lie. */
  readonly #gone = new Set<string>();

  get hasUnplaced(): boolean {
    return this.#gone.size > 0;
  }

  put(change: BodyChange): void {
    const store = change.kind === "request" ? "requests" : "turns";
    this.#editsAt(store, numberOf(change)).set(rowKey(change.kind, change.id), change);
  }

  remove(kind: BodyKind, id: string): void {
    // A tool result's id begins with its turn's.
    if (kind === "request") this.#gone.add(id);
    else this.#editsAt("turns", Number.parseInt(id, 10)).set(rowKey(kind, id), null);
  }

  /** Finds the requests that go among all there are. */
  place(requests: readonly BodyChange[]): void {
    for (const change of requests) {
      if (!this.#gone.has(change.id)) continue;
      this.#editsAt("requests", numberOf(change)).set(rowKey(change.kind, change.id), null);
    }
  }

  #editsAt(store: BucketStore, number: number): BucketEdits {
    const bucket = bucketOf(store, number);
    const edits: BucketEdits = this.buckets[store].get(bucket) ?? new Map();
    this.buckets[store].set(bucket, edits);
    return edits;
  }
}
