import { describe, expect, test } from "vitest";
import { blobHashSchema, type Change } from "../../shared/protocol/rows.ts";
import {
  callIdOf,
  requestIdOf,
  requestRow,
  sessionIdOf,
  toolResultRow,
  turnRow,
  type Unnumbered,
} from "../testing/rows.ts";
import {
  type BodyChange,
  type Bucket,
  type BucketEdits,
  type BucketStore,
  bucketOf,
  bucketSchema,
  editBucket,
  numberOf,
  SessionEdits,
} from "./body-buckets.ts";

const one = sessionIdOf("one");
const request = requestIdOf("r1");
const hash = blobHashSchema.parse("ab".repeat(32));
const big = { head: "The beginning", size: 100_000, blob: hash };

let rev = 0;
/** Through the schema that reads records, as what a database holds. */
function bodyOf(unnumbered: Unnumbered): BodyChange {
  rev += 1;
  const stored = bucketSchema.parse({ changes: [{ ...unnumbered, rev }], blobs: [] });
  const [change] = stored.changes;
  if (change === undefined) throw new Error(`a ${unnumbered.kind} is no body`);
  return change;
}

const turn = (id: number, row = {}) => bodyOf(turnRow(one, id, request, row));
const result = (turnId: number, name: string) => bodyOf(toolResultRow(one, turnId, callIdOf(name)));

/** What becomes of all buckets of a store. */
function applied(
  buckets: ReadonlyMap<number, Bucket>,
  edits: ReadonlyMap<number, BucketEdits>,
): Map<number, Bucket> {
  const after = new Map(buckets);
  for (const [bucket, edit] of edits) {
    const edited = editBucket(after.get(bucket) ?? null, edit);
    if (edited === null) after.delete(bucket);
    else after.set(bucket, edited);
  }
  return after;
}

const idsIn = (buckets: ReadonlyMap<number, Bucket>) =>
  [...buckets].map(([bucket, { changes }]) => [bucket, changes.map(({ id }) => id)]);

function written(store: BucketStore, ...changes: BodyChange[]): Map<number, Bucket> {
  const edits = new SessionEdits();
  for (const change of changes) edits.put(change);
  return applied(new Map(), edits.buckets[store]);
}

describe("buckets", () => {
  test("a turn lies with its tool results and its neighbours", () => {
    const buckets = written("turns", turn(3), result(3, "a/b"), turn(4), result(4, "c"), turn(5));
    expect(idsIn(buckets)).toEqual([
      [1, ["3", "3/a/b"]],
      [2, ["4", "4/c", "5"]],
    ]);
  });

  test("every number lies in one bucket, and buckets follow the numbers", () => {
    for (const store of ["requests", "turns"] as const) {
      const numbers = Array.from({ length: 100 }, (_, number) => bucketOf(store, number));
      expect(numbers[0]).toBe(1);
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      expect(new Set(numbers).size).toBe(numbers.at(-1));
    }
    expect(bucketOf("turns", Number.POSITIVE_INFINITY)).toBe(Number.POSITIVE_INFINITY);
  });

  test("a row takes the place of its earlier self and of nothing else", () => {
    const before = written("turns", turn(1), result(1, "a"), turn(2));
    const edits = new SessionEdits();
    edits.put(turn(1, { state: "failed" }));
    const [bucket] = applied(before, edits.buckets.turns).values();
    expect(bucket?.changes.map(({ id }) => id).sort()).toEqual(["1", "1/a", "2"]);
    const changed = bucket?.changes.find(({ id }) => id === "1");
    expect(changed?.row).toMatchObject({ state: "failed" });
  });

  test("a tombstone takes a row out, and the last one the record", () => {
    const before = written("turns", turn(1), result(1, "a/b"));
    const edits = new SessionEdits();
    edits.remove("toolResult", "1/a/b");
    const after = applied(before, edits.buckets.turns);
    expect(idsIn(after)).toEqual([[1, ["1"]]]);
    edits.remove("turn", "1");
    expect(applied(before, edits.buckets.turns).size).toBe(0);
  });

  test("a request's tombstone, which does not say where it lies, is placed among all requests", () => {
    const ids = Array.from({ length: 40 }, (_, index) => requestIdOf(`r${index + 1}`));
    const requests = ids.map((id, index) => bodyOf(requestRow(one, id, index + 1)));
    const before = written("requests", ...requests);
    const edits = new SessionEdits();
    edits.remove("request", ids[20] ?? "");
    edits.remove("request", requestIdOf("never-seen"));
    expect(edits.buckets.requests.size).toBe(0);
    expect(edits.hasUnplaced).toBe(true);
    edits.place(requests);
    const after = [...applied(before, edits.buckets.requests).values()];
    const left = after.flatMap(({ changes }) => changes.map(numberOf));
    expect(left.sort((a, b) => a - b)).toEqual(
      Array.from({ length: 40 }, (_, index) => index + 1).filter((seq) => seq !== 21),
    );
  });

  test("a record names the blobs of its rows, once each and no longer than they do", () => {
    const before = written("turns", turn(1, { answer: big, reasoning: big }), turn(2));
    expect(before.get(1)?.blobs).toEqual([hash]);
    const edits = new SessionEdits();
    edits.put(turn(1));
    expect(applied(before, edits.buckets.turns).get(1)?.blobs).toEqual([]);
  });

  test("what is no body, or a tombstone, makes a record damaged", () => {
    const tombstone = { ...turn(3), row: null };
    const device: Change = {
      kind: "device",
      sessionId: null,
      id: "d".repeat(16),
      rev: 1,
      row: null,
    };
    const isRead = (record: unknown) => bucketSchema.safeParse(record).success;
    expect(isRead({ changes: [turn(3)], blobs: [] })).toBe(true);
    expect(isRead({ changes: [tombstone], blobs: [] })).toBe(false);
    expect(isRead({ changes: [device], blobs: [] })).toBe(false);
    expect(isRead({ spoiled: true })).toBe(false);
  });
});
