import { describe, expect, test } from "vitest";
import type { SessionId } from "../ids.ts";
import { type Change, deviceIdSchema, sessionIdSchema } from "../protocol/rows.ts";
import { applyChanges, type RowTarget } from "./apply-page.ts";

const sessionOf = (name: string): SessionId => sessionIdSchema.parse(name.padEnd(16, "_"));
const one = sessionOf("one");
const two = sessionOf("two");

const device = (rev: number, name: string | null): Change => ({
  kind: "device",
  sessionId: null,
  id: deviceIdSchema.parse("device".padEnd(16, "_")),
  rev,
  row:
    name === null
      ? null
      : {
          name,
          role: "owner",
          publicKey: "",
          fingerprint: "",
          createdAt: 0,
          lastSeenAt: 0,
          revokedAt: null,
        },
});

const turnGone = (rev: number, sessionId: SessionId): Change => ({
  kind: "turn",
  sessionId,
  id: "1",
  rev,
  row: null,
});

const sessionGone = (rev: number, sessionId: SessionId): Change => ({
  kind: "session",
  sessionId,
  id: sessionId,
  rev,
  row: null,
});

/** Writes down what it is told, and knows the revs. */
function makeTarget(): RowTarget & { readonly done: string[] } {
  const done: string[] = [];
  const revs = new Map<string, number>();
  return {
    done,
    knownRev: (kind, sessionId, id) =>
      Math.max(revs.get(`${kind} ${sessionId} ${id}`) ?? 0, revs.get(`all of ${sessionId}`) ?? 0),
    put({ kind, sessionId, id, rev }) {
      revs.set(`${kind} ${sessionId} ${id}`, rev);
      done.push(`put ${kind} ${rev}`);
    },
    remove(kind, sessionId, id, rev) {
      revs.set(`${kind} ${sessionId} ${id}`, rev);
      done.push(`remove ${kind} ${rev}`);
    },
    removeSession(sessionId, rev) {
      revs.set(`all of ${sessionId}`, rev);
      done.push(`remove all of ${sessionId} ${rev}`);
    },
  };
}

describe("applyChanges", () => {
  test("puts rows, removes rows, and takes all of a session at its tombstone", () => {
    const target = makeTarget();
    applyChanges(target, [device(1, "a"), turnGone(2, one), device(3, null), sessionGone(4, one)]);
    expect(target.done).toEqual([
      "put device 1",
      "remove turn 2",
      "remove device 3",
      `remove all of ${one} 4`,
    ]);
  });

  test("[F2] applying a page twice changes nothing", () => {
    const target = makeTarget();
    const page = [device(1, "a"), device(2, "b"), turnGone(3, two), sessionGone(4, one)];
    applyChanges(target, page);
    const once = [...target.done];
    applyChanges(target, page);
    expect(target.done).toEqual(once);
  });

  test("a change older than what is known changes nothing, also after a tombstone", () => {
    const target = makeTarget();
    applyChanges(target, [device(5, "new"), sessionGone(6, one)]);
    applyChanges(target, [device(4, "old"), turnGone(3, one)]);
    expect(target.done).toEqual(["put device 5", `remove all of ${one} 6`]);
  });
});
