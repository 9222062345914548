import { expect, test } from "vitest";
import type { SessionId } from "../../shared/ids.ts";
import { sampleSession, sampleSessionId } from "../testing/sample-rows.ts";
import { openTemporaryStore } from "../testing/temporary-store.ts";
import { Scopes } from "./scopes.ts";

const DAY_MS = 24 * 60 * 60_000;
const [a, b, c] = [sampleSessionId("a"), sampleSessionId("b"), sampleSessionId("c")] as const;
const everything = (_sessionId: SessionId) => true;

async function setUp() {
  const { store } = await openTemporaryStore();
  const put = (id: SessionId, modifiedAt: number, pinned = false) =>
    store.write((tx) => tx.put("session", id, id, sampleSession({ modifiedAt, pinned })));
  return { store, put, scopes: new Scopes(store) };
}

test("[V1] leaves out what was not modified for as many days, and what is named, once each", async () => {
  const { put, scopes } = await setUp();
  for (const [id, at] of [
    [a, 0],
    [b, 5],
    [c, 5],
  ] as const)
    await put(id, at);
  const now = 2 * DAY_MS + 1;
  const leftOut = (days: number | null, except: SessionId[], maySee = everything) =>
    scopes.leftOut({ days, except }, { now, maySee });
  expect(await leftOut(2, [])).toEqual([a]);
  expect(await leftOut(1, [])).toEqual([a, b, c]);
  expect(await leftOut(null, [b, sampleSessionId("none")])).toEqual([b]);
  expect((await leftOut(2, [a, b])).sort()).toEqual([a, b]);
  expect(await leftOut(1, [a, b], (id: SessionId) => id === b)).toEqual([b]);
});

test("[V1] follows what was pinned, modified, made and deleted since it looked last", async () => {
  const { store, put, scopes } = await setUp();
  for (const id of [a, b, c]) await put(id, 0);
  const leftOut = () =>
    scopes.leftOut({ days: 1, except: [] }, { now: 2 * DAY_MS, maySee: everything });
  expect(await leftOut()).toEqual([a, b, c]);
  await put(a, 0, true);
  await put(b, 2 * DAY_MS);
  await store.write((tx) => tx.remove("session", c, c));
  const d = sampleSessionId("d");
  await put(d, 0);
  expect(await leftOut()).toEqual([d]);
  await put(a, 0);
  expect(await leftOut()).toEqual([d, a]);
});

test("reads a session once, however many devices come; an answer that was overtaken changes nothing", async () => {
  const { store, put } = await setUp();
  const asked: number[] = [];
  const answers: (() => void)[] = [];
  const scopes = new Scopes({
    existingSessions: (ids) => store.existingSessions(ids),
    async sessionsAfter(rev) {
      asked.push(rev);
      const answer = await store.sessionsAfter(rev);
      await new Promise<void>((resolve) => answers.push(resolve));
      return answer;
    },
  });
  const leftOut = () =>
    scopes.leftOut({ days: 1, except: [] }, { now: 2 * DAY_MS, maySee: everything });
  await put(a, 0);
  const slow = leftOut();
  await store.existingSessions([]);
  await put(a, 2 * DAY_MS);
  const quick = leftOut();
  await store.existingSessions([]);
  answers[1]?.();
  expect(await quick).toEqual([]);
  answers[0]?.();
  expect(await slow).toEqual([]);
  const later = leftOut();
  await store.existingSessions([]);
  answers[2]?.();
  expect(await later).toEqual([]);
  expect(asked).toEqual([0, 0, 2]);
});
