import { describe, expect, test } from "vitest";
import { type CommandId, toBase64Url } from "../../shared/ids.ts";
import { RECONNECT_MAX_MS } from "../../shared/limits.ts";
import { bodyOf, requestIdOf, requestRow, sessionIdOf, sessionRow } from "../testing/rows.ts";
import { type FakePage, makeWorkbench, type Workbench } from "../testing/workbench.ts";

const names = ["a", "b", "c", "d", "e", "f"] as const;
type Name = (typeof names)[number];
const idOf = (name: Name) => sessionIdOf(name);
const BODY_CHARS = 40_000;

function write(bench: Workbench, name: Name, session: { pinned?: boolean } = {}): void {
  const text = bodyOf("x".repeat(BODY_CHARS));
  const modifiedAt = names.indexOf(name) + 1;
  bench.daemon.write(
    sessionRow(idOf(name), { modifiedAt, ...session }),
    requestRow(idOf(name), requestIdOf(name), 1, { text }),
  );
}

const whole = ({ replica }: Workbench): string[] =>
  names.filter((name) => replica.rows.has(`request ${idOf(name)} ${requestIdOf(name)}`));

/** Room for `count` sessions with one body each. */
function benchWithRoomFor(count: number): Workbench {
  const bench = makeWorkbench();
  bench.replica.roomBytes = count * (BODY_CHARS + 4_000);
  return bench;
}

async function settle(bench: Workbench, seconds = 5): Promise<void> {
  for (let n = 0; n < seconds; n++) {
    await bench.clock.advance(1_000);
    await bench.network.deliver();
  }
}

const prompt = (page: FakePage, name: string) => {
  const commandId = toBase64Url(new TextEncoder().encode(name.padEnd(16))) as CommandId;
  const params = { sessionId: idOf("a"), text: name.repeat(BODY_CHARS) };
  page.ask((id) => ({ type: "command", id, commandId, method: "session.prompt", params }));
  return commandId;
};

describe("when the browser gives no more room", () => {
  test("the oldest sessions' bodies leave for a page, the daemon is told, and the feed goes on", async () => {
    const bench = benchWithRoomFor(4);
    const page = await bench.page();
    for (const name of names) {
      write(bench, name);
      await bench.network.deliver();
    }
    expect(whole(bench)).toEqual(["c", "d", "e", "f"]);
    expect(bench.daemon.of("leave").map(({ sessionId }) => sessionId)).toEqual([
      idOf("a"),
      idOf("b"),
    ]);
    expect(page.ids("session")).toHaveLength(6);
    expect(bench.replica.stored.cursor).toBe(bench.daemon.head);
    expect(page.state?.kind).toBe("live");
    expect(bench.faults).toEqual([]);
  });

  test("neither pinned sessions nor open ones leave", async () => {
    const bench = benchWithRoomFor(3);
    write(bench, "a", { pinned: true });
    write(bench, "b");
    const page = await bench.page();
    page.say({ type: "open", sessionId: idOf("b") });
    await bench.network.deliver();
    for (const name of ["c", "d", "e"] as const) {
      write(bench, name);
      await bench.network.deliver();
    }
    expect(whole(bench)).toEqual(["a", "b", "e"]);
  });

  test("pages that came after one that did not fit are stored behind it", async () => {
    const bench = benchWithRoomFor(3);
    bench.daemon.rowsPerPage = 2;
    for (const name of names) write(bench, name);
    const page = await bench.page();
    expect(page.state?.kind).toBe("live");
    expect(bench.daemon.of("ack").at(-1)?.cursor).toBe(bench.daemon.head);
    expect(bench.network.opened).toBe(1);
    expect(whole(bench)).toEqual(["d", "e", "f"]);
  });

  test("with nothing that may leave, a page moves the cursor on without its bodies", async () => {
    const bench = benchWithRoomFor(2);
    for (const name of ["a", "b"] as const) write(bench, name, { pinned: true });
    const page = await bench.page();
    write(bench, "c", { pinned: true });
    await bench.network.deliver();
    expect(bench.replica.stored.cursor).toBe(bench.daemon.head);
    expect(whole(bench)).toEqual(["a", "b"]);
    expect([...bench.replica.marks.keys()]).toEqual([idOf("c")]);
    expect(page.ids("session")).toHaveLength(3);
    await settle(bench, 20);
    // It does not try for ever.
    expect(bench.daemon.of("keep").length).toBeLessThanOrEqual(1);
    expect(page.state?.kind).toBe("live");
  });

  test("a session that is opened comes in place of others", async () => {
    const bench = benchWithRoomFor(3);
    for (const name of ["a", "b", "c", "d"] as const) write(bench, name);
    const page = await bench.page();
    expect(whole(bench)).not.toContain("a");
    page.say({ type: "open", sessionId: idOf("a") });
    await bench.network.deliver();
    expect(page.opened(idOf("a"))).toMatchObject({ isWhole: true });
    expect(whole(bench)).toContain("a");
    expect(whole(bench)).not.toContain("b");
  });

  test("one that finds no room at all is shown all the same, and with what follows", async () => {
    const bench = benchWithRoomFor(2);
    for (const name of ["a", "b"] as const) write(bench, name, { pinned: true });
    const page = await bench.page();
    write(bench, "c");
    await bench.network.deliver();
    page.say({ type: "open", sessionId: idOf("c") });
    await bench.network.deliver();
    expect(page.opened(idOf("c"))).toMatchObject({ isWhole: true, hasEarlier: false });
    expect(page.ids("request")).toEqual([requestIdOf("c")]);
    bench.daemon.write(requestRow(idOf("c"), requestIdOf("more"), 2));
    await bench.network.deliver();
    expect(page.ids("request")).toEqual([requestIdOf("c"), requestIdOf("more")]);
    expect(bench.replica.marks.has(idOf("c"))).toBe(true);
    expect(bench.network.opened).toBe(1);
    page.say({ type: "close", sessionId: idOf("c") });
    await bench.network.deliver();
    expect(bench.daemon.of("leave").at(-1)).toEqual({ type: "leave", sessionId: idOf("c") });
  });

  test("a part of a fill that does not fit is not passed over by those that follow it", async () => {
    const bench = benchWithRoomFor(3);
    bench.daemon.rowsPerPage = 1;
    for (const name of ["b", "c"] as const) write(bench, name);
    write(bench, "a");
    bench.daemon.write(requestRow(idOf("a"), requestIdOf("small"), 2));
    const page = await bench.page();
    await bench.replica.leaveOut([idOf("a")], "known");
    bench.replica.roomBytes = bench.replica.usedBytes + BODY_CHARS / 2;
    page.say({ type: "open", sessionId: idOf("a") });
    await bench.network.deliver();
    expect(page.ids("request")).toEqual([requestIdOf("a"), requestIdOf("small")]);
    expect(bench.replica.marks.has(idOf("a"))).toBe(false);
    expect(bench.replica.marks.size).toBeGreaterThan(0);
    expect(whole(bench)).toContain("a");
    expect(bench.network.opened).toBe(1);
  });

  test("[F5] what people wrote takes the place of sessions: prompts in their order, and drafts", async () => {
    const bench = benchWithRoomFor(3);
    for (const name of ["a", "b", "c"] as const) write(bench, name);
    const page = await bench.page();
    bench.network.isReachable = false;
    bench.network.close();
    await bench.network.deliver();
    const ids = [prompt(page, "1"), prompt(page, "2")];
    page.say({ type: "draft", sessionId: idOf("b"), text: "d".repeat(BODY_CHARS) });
    await bench.network.deliver();
    expect([...bench.replica.outboxEntries.keys()]).toEqual(ids);
    expect(bench.replica.drafts.get(idOf("b"))).toHaveLength(BODY_CHARS);
    expect(whole(bench)).toEqual([]);
    expect(bench.faults).toEqual([]);
    bench.network.isReachable = true;
    await bench.clock.advance(RECONNECT_MAX_MS);
    await bench.network.deliver();
    expect(bench.daemon.calls("session.prompt").map(({ commandId }) => commandId)).toEqual(ids);
  });

  test("a draft that finds no room is kept in memory, and stored once there is some", async () => {
    const bench = makeWorkbench();
    write(bench, "a");
    const page = await bench.page();
    page.say({ type: "open", sessionId: idOf("a") });
    await bench.network.deliver();
    bench.replica.roomBytes = 0;
    for (const text of ["half", "half a thou"]) {
      page.say({ type: "draft", sessionId: idOf("a"), text });
    }
    await bench.network.deliver();
    expect(bench.replica.drafts.size).toBe(0);
    expect(bench.faults).toHaveLength(1);
    page.say({ type: "open", sessionId: idOf("a") });
    await bench.network.deliver();
    expect(page.opened(idOf("a"))?.draft).toBe("half a thou");
    bench.replica.roomBytes = Infinity;
    await bench.clock.advance(10_000);
    expect(bench.replica.drafts.get(idOf("a"))).toBe("half a thou");
  });
});

describe("the budget", () => {
  test("is kept by letting the oldest leave, a few at a time", async () => {
    const bench = makeWorkbench();
    for (const name of names) write(bench, name);
    const page = await bench.page();
    bench.replica.quotaBytes = bench.replica.usedBytes;
    await settle(bench, 1);
    expect(whole(bench)).toEqual(["b", "c", "d", "e", "f"]);
    await settle(bench, 10);
    expect(whole(bench)).toEqual(["d", "e", "f"]);
    expect(bench.daemon.of("leave")).toHaveLength(3);
    const facts = page.ask((id) => ({ type: "storage", id }));
    await bench.network.deliver();
    expect(page.answerTo(facts)).toMatchObject({
      value: {
        days: null,
        usedBytes: bench.replica.usedBytes,
        budgetBytes: Math.floor(bench.replica.quotaBytes * 0.6),
        isPersisted: false,
        leftOut: 3,
      },
    });
  });

  test("what left for it does not come back by itself, but when it is opened", async () => {
    const bench = makeWorkbench();
    for (const name of names) write(bench, name);
    const page = await bench.page();
    bench.replica.quotaBytes = bench.replica.usedBytes;
    await settle(bench, 20);
    expect(bench.daemon.of("keep")).toEqual([]);
    page.say({ type: "open", sessionId: idOf("a") });
    await bench.network.deliver();
    expect(whole(bench)).toContain("a");
    await settle(bench, 20);
    expect(whole(bench)).toEqual(["a", "e", "f"]);
    page.say({ type: "close", sessionId: idOf("a") });
    await settle(bench, 20);
    // Within the budget again: nothing has to leave.
    expect(whole(bench)).toEqual(["a", "e", "f"]);
  });
});
