import { expect, test } from "vitest";
import type { ClientMessage } from "../../shared/protocol/messages.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import { FakeClock, flushPromises } from "../testing/fake-clock.ts";
import { MemoryReplica } from "../testing/memory-replica.ts";
import { requestIdOf, requestRow, sessionIdOf, sessionRow } from "../testing/rows.ts";
import { FeedIntake } from "./feed-intake.ts";

const one = sessionIdOf("one");
const request = (name: string, seq: number, rev: number): Change => ({
  ...requestRow(one, requestIdOf(name), seq),
  rev,
});

async function makeIntake() {
  const replica = new MemoryReplica();
  const sent: ClientMessage[] = [];
  const fetched: string[] = [];
  const nothing = () => {};
  const intake = new FeedIntake({
    replica,
    clock: new FakeClock(),
    position: await replica.position(),
    connection: "first",
    makeRoom: async () => false,
    actions: {
      send: (message) => void sent.push(message),
      rows: nothing,
      progress: nothing,
      caughtUp: nothing,
      cameLeftOut: nothing,
      fetched: (sessionId) => void fetched.push(sessionId),
      outOfRoom: nothing,
      storedLate: () => {},
      overtaken: nothing,
      storageFailed: nothing,
    },
  });
  intake.welcome({
    type: "welcome",
    epoch: "epoch",
    head: 1,
    resync: false,
    leftOut: [one],
    deviceId: null,
    role: "owner",
    daemonName: "test",
    daemonVersion: "0",
    heartbeatMs: 1,
    now: 0,
  });
  const page = (rev: number, changes: Change[], leftOut = [] as (typeof one)[]) =>
    intake.page({ type: "page", changes, upto: rev, token: `${rev}`, more: 0, leftOut });
  page(1, [{ ...sessionRow(one), rev: 1 }]);
  await flushPromises();
  sent.length = 0;
  const told = () => sent.flatMap(({ type }) => (type === "keep" || type === "leave" ? type : []));
  return { replica, intake, page, told, fetched };
}

const part = { type: "fill", sessionId: one, cursor: 1 } as const;

test("[V5] what comes of a fill that was called off is no part of the one that was asked for after it", async () => {
  const { replica, intake, page, fetched } = await makeIntake();
  intake.fetch(one, "keep");
  intake.fill({ ...part, changes: [request("old", 1, 1)], isFirst: true, isLast: false });
  await flushPromises();
  await replica.leaveOut([one], "known");
  intake.leave([one]);
  intake.fetch(one, "keep");
  intake.fill({ ...part, changes: [request("late", 2, 1)], isFirst: false, isLast: true });
  await flushPromises();
  expect([fetched, replica.marks.size]).toEqual([[], 1]);
  page(1, [], [one]);
  intake.fill({ ...part, changes: [request("fresh", 1, 1)], isFirst: true, isLast: true });
  await flushPromises();
  expect([fetched, replica.marks.size]).toEqual([[one], 0]);
  const ids = [...replica.rows.values()].flatMap(({ kind, id }) => (kind === "request" ? id : []));
  expect(ids).toEqual([requestIdOf("fresh")]);
});

test("[V5] one that leaves again before the first was answered leaves after the answer, and comes after that", async () => {
  const { replica, intake, page, told, fetched } = await makeIntake();
  intake.fetch(one, "keep");
  intake.leave([one]);
  intake.fetch(one, "keep");
  intake.leave([one]);
  intake.fetch(one, "keep");
  expect(told()).toEqual(["keep", "leave", "keep"]);
  page(1, [], [one]);
  expect(told()).toEqual(["keep", "leave", "keep", "leave", "keep"]);
  intake.fill({ ...part, changes: [request("second", 1, 1)], isFirst: true, isLast: true });
  await flushPromises();
  expect([fetched, replica.marks.size]).toEqual([[], 1]);
  page(1, [], [one]);
  intake.fill({ ...part, changes: [request("third", 1, 1)], isFirst: true, isLast: true });
  await flushPromises();
  expect([fetched, replica.marks.size]).toEqual([[one], 0]);
});

test("the answer to a leave marks nothing: the session may be gone by then", async () => {
  const { replica, intake, page } = await makeIntake();
  intake.leave([one]);
  page(2, [{ kind: "session", sessionId: one, id: one, row: null, rev: 2 }]);
  page(2, [], [one]);
  await flushPromises();
  expect([replica.stored.cursor, replica.marks.size]).toEqual([2, 0]);
});
