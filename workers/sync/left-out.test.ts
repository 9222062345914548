import { describe, expect, test } from "vitest";
import { RECONNECT_MAX_MS } from "../../shared/limits.ts";
import {
  bodyOf,
  noSession,
  requestIdOf,
  requestRow,
  sessionIdOf,
  sessionRow,
  turnRow,
} from "../testing/rows.ts";
import { FakePage, makeWorkbench, type Workbench } from "../testing/workbench.ts";

const one = sessionIdOf("one");
const two = sessionIdOf("two");
const DAY_MS = 24 * 60 * 60_000;

/** A session of `count` requests with one turn each. */
function writeSession(bench: Workbench, sessionId = one, count = 3, modifiedAt = 1): void {
  bench.daemon.write(sessionRow(sessionId, { modifiedAt }));
  for (let n = 1; n <= count; n++) {
    const id = requestIdOf(`${sessionId.slice(0, 3)}r${n}`);
    bench.daemon.write(
      requestRow(sessionId, id, n),
      turnRow(sessionId, n, id, { answer: bodyOf(`Answer ${n}`) }),
    );
  }
}

const held = ({ replica }: Workbench, sessionId = one): number =>
  [...replica.rows.values()].filter(
    (change) => change.sessionId === sessionId && change.kind !== "session",
  ).length;

/** A device that keeps the last day, and a session that is older. */
async function oldSession(count = 3): Promise<{ bench: Workbench; page: FakePage }> {
  const bench = makeWorkbench();
  writeSession(bench, one, count);
  bench.replica.days = 1;
  bench.daemon.now = 10 * DAY_MS;
  return { bench, page: await bench.page() };
}

async function reconnect(bench: Workbench): Promise<void> {
  bench.network.close();
  await bench.network.deliver();
  await bench.clock.advance(RECONNECT_MAX_MS);
  await bench.network.deliver();
}

describe("sessions that are left out", () => {
  test("[F9] come without their bodies, and those that were held go", async () => {
    const bench = makeWorkbench();
    writeSession(bench);
    const page = await bench.page();
    expect(held(bench)).toBe(6);
    bench.daemon.now = 10 * DAY_MS;
    const asked = page.ask((id) => ({ type: "keepDays", id, days: 1 }));
    await bench.network.deliver();
    expect(bench.daemon.of("hello").at(-1)?.scope).toEqual({ days: 1, except: [] });
    expect(page.answerTo(asked)).toMatchObject({ value: { days: 1 } });
    const facts = page.ask((id) => ({ type: "storage", id }));
    await bench.network.deliver();
    expect(page.answerTo(facts)).toMatchObject({ value: { days: 1, leftOut: 1 } });
    expect(held(bench)).toBe(0);
    expect(page.ids("session")).toEqual([one]);
    expect([...bench.replica.marks.keys()]).toEqual([one]);
  });

  test("[F9] what is chosen while a connection is being made counts for that connection", async () => {
    const bench = makeWorkbench();
    writeSession(bench);
    bench.daemon.now = 10 * DAY_MS;
    bench.network.isSilent = true;
    const page = await bench.page();
    page.ask((id) => ({ type: "keepDays", id, days: 1 }));
    bench.network.isSilent = false;
    await bench.network.deliver();
    expect(bench.daemon.of("hello").at(-1)?.scope).toEqual({ days: 1, except: [] });
    expect([page.state?.kind, held(bench)]).toEqual(["live", 0]);
  });

  test("are named in the next hello, so that nothing of them is missed unseen", async () => {
    const { bench } = await oldSession();
    await reconnect(bench);
    expect(bench.daemon.of("hello").at(-1)?.scope).toEqual({ days: 1, except: [one] });
  });

  test("[F9] one that is opened is said not to be whole, is fetched, and is whole", async () => {
    const { bench, page } = await oldSession();
    bench.daemon.holdsFills = true;
    bench.daemon.rowsPerPage = 4;
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    expect(page.opened(one)).toMatchObject({ found: true, isWhole: false });
    expect(bench.daemon.of("keep")).toEqual([{ type: "keep", sessionId: one }]);
    bench.daemon.fillOn();
    await bench.network.deliver();
    expect(page.opened(one)).toMatchObject({ isWhole: false });
    expect(bench.replica.marks.has(one)).toBe(true);
    bench.daemon.fillOn();
    await bench.network.deliver();
    expect(page.opened(one)).toMatchObject({ isWhole: true });
    expect(page.ids("turn")).toEqual(["1", "2", "3"]);
    expect([held(bench), bench.replica.marks.size]).toEqual([6, 0]);
  });

  test("one that is opened with no connection is fetched once there is one", async () => {
    const { bench, page } = await oldSession();
    bench.network.isReachable = false;
    bench.network.close();
    await bench.network.deliver();
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    expect(page.opened(one)).toMatchObject({ found: true, isWhole: false });
    bench.network.isReachable = true;
    await bench.clock.advance(RECONNECT_MAX_MS);
    await bench.network.deliver();
    expect(page.opened(one)).toMatchObject({ isWhole: true });
    expect(page.ids("turn")).toHaveLength(3);
  });

  test("[F3] what changes while a session is being fetched is in it", async () => {
    const { bench, page } = await oldSession();
    bench.daemon.holdsFills = true;
    bench.daemon.rowsPerPage = 2;
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    bench.daemon.fillOn();
    await bench.network.deliver();
    const first = requestIdOf("oner1");
    bench.daemon.write(turnRow(one, 1, first, { answer: bodyOf("Other") }));
    bench.daemon.write(turnRow(one, 3, requestIdOf("oner3"), { answer: bodyOf("Also other") }));
    await bench.network.deliver();
    for (let n = 0; n < 3; n++) bench.daemon.fillOn();
    await bench.network.deliver();
    expect(bench.replica.marks.size).toBe(0);
    expect(bench.replica.rows).toEqual(new Map(bench.daemon.rows));
    expect(page.opened(one)).toMatchObject({ isWhole: true });
  });

  test("a fill that is cut off begins anew, and nothing of the first is taken for the whole", async () => {
    const { bench, page } = await oldSession();
    bench.daemon.holdsFills = true;
    bench.daemon.rowsPerPage = 2;
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    bench.daemon.fillOn();
    await bench.network.deliver();
    expect(held(bench)).toBe(2);
    bench.daemon.holdsFills = false;
    await reconnect(bench);
    expect(bench.daemon.of("keep")).toHaveLength(2);
    expect(held(bench)).toBe(6);
    expect(page.opened(one)).toMatchObject({ isWhole: true });
  });

  test("[V4] rows of one that nobody opened are not taken from pages, whoever sends them", async () => {
    const { bench } = await oldSession();
    bench.daemon.write(sessionRow(two));
    await bench.network.deliver();
    await bench.replica.leaveOut([two], "known");
    bench.daemon.write(requestRow(two, requestIdOf("r"), 1));
    await bench.network.deliver();
    expect(held(bench, two)).toBe(0);
    expect(bench.replica.stored.cursor).toBe(bench.daemon.head);
  });

  test("one that another worker left out is fetched when it is opened here", async () => {
    const bench = makeWorkbench();
    writeSession(bench);
    const page = await bench.page();
    await bench.replica.leaveOut([one], "known");
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    expect(page.opened(one)).toMatchObject({ isWhole: true });
    expect(held(bench)).toBe(6);
  });

  test("[F3] one that another worker made whole has every row, though this connection is not sent them", async () => {
    const { bench, page } = await oldSession();
    const other = new FakePage(bench.makeSync());
    await bench.network.deliver();
    other.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    expect(other.opened(one)).toMatchObject({ isWhole: true });
    bench.daemon.write(turnRow(one, 1, requestIdOf("oner1"), { answer: bodyOf("Other") }));
    await bench.network.deliver();
    expect(bench.replica.rows).toEqual(new Map(bench.daemon.rows));
    expect([page.state?.kind, other.state?.kind]).toEqual(["live", "live"]);
  });

  test("[F3] one that another worker made whole is followed from here on once it is opened here", async () => {
    const { bench, page } = await oldSession();
    const other = new FakePage(bench.makeSync());
    await bench.network.deliver();
    other.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    await bench.clock.advance(2_000);
    await bench.network.deliver();
    bench.daemon.write(turnRow(one, 1, requestIdOf("oner1"), { answer: bodyOf("Other") }));
    await bench.network.deliver();
    const answer = [...page.rows.values()].find(({ kind, id }) => kind === "turn" && id === "1");
    expect(answer?.row).toMatchObject({ answer: { head: "Other" } });
  });

  test("a resync does not bring back what is left out", async () => {
    const { bench } = await oldSession();
    bench.daemon.resyncNext = true;
    await reconnect(bench);
    expect(held(bench)).toBe(0);
    expect([...bench.replica.marks.keys()]).toEqual([one]);
  });

  test("one that is deleted leaves nothing behind, not even in the middle of its fill", async () => {
    const { bench, page } = await oldSession();
    bench.daemon.holdsFills = true;
    bench.daemon.rowsPerPage = 2;
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    bench.daemon.fillOn();
    await bench.network.deliver();
    bench.daemon.write(noSession(one));
    bench.daemon.fillOn();
    bench.daemon.fillOn();
    await bench.network.deliver();
    expect([...bench.replica.rows]).toEqual([]);
    expect(bench.replica.marks.size).toBe(0);
    expect(page.state?.kind).toBe("live");
  });

  test("packed pages and fills are stored like others", async () => {
    const bench = makeWorkbench();
    bench.daemon.packs = true;
    writeSession(bench);
    bench.replica.days = 1;
    bench.daemon.now = 10 * DAY_MS;
    const page = await bench.page();
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    expect(page.opened(one)).toMatchObject({ isWhole: true });
    expect(held(bench)).toBe(6);
  });
});

describe("what is fetched while nobody waits", () => {
  /** Lets the quiet moments pass in which the worker looks after its copy. */
  async function settle(bench: Workbench, seconds = 5): Promise<void> {
    for (let n = 0; n < seconds; n++) {
      await bench.clock.advance(1_000);
      await bench.network.deliver();
    }
  }

  test("all that fits, once everything is to be kept, last modified first and one at a time", async () => {
    const { bench, page } = await oldSession();
    writeSession(bench, two, 2, 5);
    await bench.network.deliver();
    page.ask((id) => ({ type: "keepDays", id, days: 1 }));
    await bench.network.deliver();
    expect([...bench.replica.marks.keys()].sort()).toEqual([one, two]);
    page.ask((id) => ({ type: "keepDays", id, days: null }));
    await bench.network.deliver();
    await settle(bench);
    expect(bench.daemon.of("keep").map(({ sessionId }) => sessionId)).toEqual([two, one]);
    expect(bench.replica.rows).toEqual(new Map(bench.daemon.rows));
  });

  test("one that is pinned, or modified again, by the daemon's clock", async () => {
    const { bench } = await oldSession();
    writeSession(bench, two, 2, 10 * DAY_MS);
    await bench.network.deliver();
    await settle(bench);
    expect(bench.daemon.of("keep")).toEqual([]);
    bench.daemon.write(sessionRow(one, { modifiedAt: 10 * DAY_MS }));
    await bench.network.deliver();
    await settle(bench);
    expect(bench.daemon.of("keep")).toEqual([{ type: "keep", sessionId: one }]);
  });
});
