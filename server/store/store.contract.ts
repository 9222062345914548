// What every implementation of `Store` must do. Each runs this suite from its own test file.

import { describe, expect, test } from "vitest";
import { BLOB_CHUNK_MAX_BYTES, PAGE_MAX_BYTES, PAGE_MAX_ROWS } from "../../shared/limits.ts";
import { decode, encode } from "../../shared/protocol/codec.ts";
import { toolResultRowId } from "../../shared/protocol/rows.ts";
import {
  plainText,
  sampleCall,
  sampleCallId,
  sampleDevice,
  sampleDeviceId,
  sampleGrant,
  sampleRequest,
  sampleSession,
  sampleSessionId,
  sampleToolResult,
  sampleTurn,
} from "../testing/sample-rows.ts";
import { EVERYTHING, type Store, type WriteTx } from "./store.ts";
import { visibilityContract } from "./visibility.contract.ts";

export interface StoreHarness {
  readonly store: Store;
  /** Lets the store's own timers run. */
  advance(ms: number): Promise<void>;
  /** Closes the store and opens the same data again. */
  reopen(): Promise<Store>;
  /** Opens a copy of the data as it is committed now, which goes its own way from here. */
  copy(): Promise<Store>;
}

const session = sampleSessionId("session-a");
const other = sampleSessionId("session-b");
const device = sampleDeviceId("device-a");
const commandId = "command-a-------" as Parameters<Store["command"]>[0];

async function allChanges(store: Store, after = 0) {
  const changes = [];
  for (let cursor = after; ; ) {
    const page = await store.page(cursor, EVERYTHING);
    // What is handed on is what whoever looks into it sees.
    expect(decode(encode(page.stored))).toEqual(decode(encode(page.changes)));
    changes.push(...page.changes);
    cursor = page.upto;
    if (page.more === 0) return changes;
  }
}

const putTurns = (from: number, to: number, text = "") =>
  async function work(tx: WriteTx) {
    for (let id = from; id <= to; id += 1) {
      await tx.put("turn", session, String(id), sampleTurn({ answer: plainText(text) }));
    }
  };

export function storeContract(name: string, open: () => Promise<StoreHarness>): void {
  describe(`${name}: rows and revs`, () => rowsAndRevs(open));
  describe(`${name}: transactions`, () => transactions(open));
  describe(`${name}: pages`, () => pages(open));
  visibilityContract(name, open);
  describe(`${name}: positions`, () => positions(open));
  describe(`${name}: tombstones`, () => tombstones(open));
  describe(`${name}: blobs`, () => blobs(open));
  describe(`${name}: commands, streams, cursors`, () => besideTheFeed(open));
}

function rowsAndRevs(open: () => Promise<StoreHarness>): void {
  test("gives revs one by one in the order of the calls, awaited or not", async () => {
    const { store } = await open();
    const { value, head } = await store.write(async (tx) => {
      const first = tx.put("session", session, session, sampleSession());
      const second = tx.put("request", session, "request-a-------", sampleRequest());
      const third = tx.put("device", null, device, sampleDevice());
      return Promise.all([third, second, first]);
    });
    expect(value).toEqual([3, 2, 1]);
    expect(head).toBe(3);
    expect(store.head).toBe(3);
    const changes = await allChanges(store);
    expect(changes.map(({ rev, kind }) => [rev, kind])).toEqual([
      [1, "session"],
      [2, "request"],
      [3, "device"],
    ]);
  });

  test("reads a row back as it was put, with its envelope", async () => {
    const { store } = await open();
    const row = sampleTurn({ answer: plainText("text"), calls: [sampleCall("a")] });
    await store.write((tx) => tx.put("turn", session, "7", row));
    expect(await store.row("turn", session, "7")).toEqual({
      rev: 1,
      sessionId: session,
      id: "7",
      row,
    });
    expect(await store.row("turn", session, "8")).toBeNull();
    expect(await store.row("turn", other, "7")).toBeNull();
  });

  test("keeps the rev of a row that is put again as it is", async () => {
    const { store } = await open();
    await store.write((tx) => tx.put("session", session, session, sampleSession()));
    const again = await store.write((tx) =>
      tx.put("session", session, session, { ...sampleSession() }),
    );
    expect(again).toEqual({ value: 1, head: 1 });
  });

  test("refuses a row that does not have its kind's shape, and writes nothing", async () => {
    const { store } = await open();
    const bad = { ...sampleSession(), turnCount: -1 };
    const write = store.write((tx) => tx.put("session", session, session, bad));
    await expect(write).rejects.toMatchObject({ code: "corrupt" });
    expect(store.head).toBe(0);
  });

  test("lists a session's rows by seq, turn number and call order, all rows by rev", async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await tx.put("request", session, "request-b-------", sampleRequest({ seq: 2 }));
      await tx.put("request", session, "request-a-------", sampleRequest({ seq: 1 }));
      for (const id of [10, 9, 2]) {
        const calls = id === 9 ? [sampleCall("z"), sampleCall("a")] : [];
        await tx.put("turn", session, String(id), sampleTurn({ calls }));
      }
      await tx.put("turn", other, "1", sampleTurn());
      for (const call of ["a", "z"]) {
        const id = toolResultRowId(9, sampleCallId(call));
        await tx.put("toolResult", session, id, sampleToolResult(9, call));
      }
    });
    const ids = async (kind: "request" | "turn" | "toolResult", of?: typeof session) =>
      (await store.rows(kind, of)).map(({ id }) => id);
    expect(await ids("request", session)).toEqual(["request-a-------", "request-b-------"]);
    expect(await ids("turn", session)).toEqual(["2", "9", "10"]);
    expect(await ids("toolResult", session)).toEqual(["9/z", "9/a"]);
    expect(await ids("turn")).toEqual(["10", "9", "2", "1"]);
  });

  test("finds the live rows of a kind by their id, in whatever session, by rev", async () => {
    const { store } = await open();
    const grant = { shareId: "share", createdAt: 1 };
    const of = async (id: string) =>
      (await store.rowsById("grant", id)).map(({ sessionId, rev, row }) => [sessionId, rev, row]);
    await store.write(async (tx) => {
      for (const id of [other, session]) await tx.put("grant", id, device, grant);
      await tx.put("grant", session, sampleDeviceId("device-b"), grant);
      await tx.put("share", session, device, { createdAt: 1, createdBy: null, expiresAt: null });
      expect(await tx.rowsById("grant", device)).toHaveLength(2);
    });
    expect(await of(device)).toEqual([
      [other, 1, grant],
      [session, 2, grant],
    ]);
    await store.write((tx) => tx.remove("grant", other, device));
    expect(await of(device)).toEqual([[session, 2, grant]]);
    expect(await of("device-c")).toEqual([]);
  });
}

function transactions(open: () => Promise<StoreHarness>): void {
  test("[F8] writes nothing of a transaction that throws, and gives its revs to the next", async () => {
    const { store } = await open();
    const heads: number[] = [];
    store.onCommit(({ head }) => heads.push(head));
    const failing = store.write(async (tx) => {
      await tx.put("session", session, session, sampleSession());
      await tx.text("x".repeat(20_000));
      await tx.saveStream({ sessionId: session, turnId: 1, parts: { answer: "a" } });
      await tx.rememberCommand({ commandId, method: "m", paramsHash: "h", answer: {} }, null, 1);
      throw new Error("on purpose");
    });
    await expect(failing).rejects.toThrow("on purpose");
    expect(store.head).toBe(0);
    expect(await allChanges(store)).toEqual([]);
    expect(await store.savedStreams()).toEqual([]);
    expect(await store.command(commandId)).toBeNull();
    expect(heads).toEqual([]);
    const next = await store.write((tx) => tx.put("device", null, device, sampleDevice()));
    expect(next).toEqual({ value: 1, head: 1 });
  });

  test("runs transactions one after another in the order of the calls", async () => {
    const { store } = await open();
    const order: string[] = [];
    const work = (label: string) => async (tx: WriteTx) => {
      order.push(`${label} begins`);
      await tx.put("turn", session, label, sampleTurn());
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${label} ends`);
    };
    await Promise.all(["1", "2", "3"].map((label) => store.write(work(label))));
    expect(order).toEqual(["1", "2", "3"].flatMap((label) => [`${label} begins`, `${label} ends`]));
  });

  test("tells listeners of each commit in order, before the write resolves, and not of others", async () => {
    const { store } = await open();
    const seen: string[] = [];
    const stop = store.onCommit(({ head }) => seen.push(`commit ${head}, head ${store.head}`));
    const write = (id: string) =>
      store
        .write((tx) => tx.put("turn", session, id, sampleTurn()))
        .then(({ head }) => seen.push(`resolved ${head}`));
    await Promise.all([write("1"), write("2")]);
    await store.write(async () => {});
    stop();
    await write("3");
    expect(seen.slice(0, 2)).toEqual(["commit 1, head 1", "resolved 1"]);
    expect(seen).toEqual([
      "commit 1, head 1",
      "resolved 1",
      "commit 2, head 2",
      "resolved 2",
      "resolved 3",
    ]);
  });

  test("says which kinds of rows a commit wrote, those that went with their session too", async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await tx.put("session", session, session, sampleSession());
      await tx.put("grant", session, device, sampleGrant());
    });
    const kinds: string[][] = [];
    store.onCommit((commit) => kinds.push([...commit.kinds].sort()));
    await store.write((tx) => tx.put("turn", session, "1", sampleTurn()));
    await store.write(async (tx) => {
      await tx.put("grant", session, device, sampleGrant());
      await tx.put("turn", session, "2", sampleTurn());
    });
    await store.write((tx) => tx.remove("session", session, session));
    expect(kinds).toEqual([["turn"], ["turn"], ["grant", "session"]]);
  });

  test("shows a transaction its own writes, and others only once they are committed", async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await tx.put("session", session, session, sampleSession({ title: "Inside" }));
      expect((await tx.row("session", session, session))?.row.title).toBe("Inside");
      expect(await tx.rows("session")).toHaveLength(1);
      expect(await store.row("session", session, session)).toBeNull();
      expect((await store.page(0, EVERYTHING)).changes).toEqual([]);
    });
    expect((await store.row("session", session, session))?.row.title).toBe("Inside");
  });

  test("refuses what is asked of a transaction after its end", async () => {
    const { store } = await open();
    let kept: WriteTx | null = null;
    await store.write(async (tx) => {
      kept = tx;
    });
    const straggler = (kept as WriteTx | null)?.put("device", null, device, sampleDevice());
    await expect(straggler).rejects.toThrow("over");
    expect(store.head).toBe(0);
  });

  test("goes on when a listener throws", async () => {
    const { store } = await open();
    const heads: number[] = [];
    store.onCommit(() => {
      throw new Error("on purpose");
    });
    store.onCommit(({ head }) => heads.push(head));
    await store.write((tx) => tx.put("device", null, device, sampleDevice()));
    expect(heads).toEqual([1]);
  });

  test("keeps rows, head and epoch when it is opened again", async () => {
    const harness = await open();
    const { epoch } = harness.store;
    await harness.store.write(putTurns(1, 3));
    const store = await harness.reopen();
    expect(store.epoch).toBe(epoch);
    expect(store.head).toBe(3);
    expect(await allChanges(store)).toHaveLength(3);
    expect((await store.write(putTurns(4, 4))).head).toBe(4);
  });
}

function pages(open: () => Promise<StoreHarness>): void {
  test("gives each row once, in its last state, in rev order (compaction)", async () => {
    const { store } = await open();
    await store.write(putTurns(1, 3));
    for (let i = 0; i < 5; i += 1) await store.write(putTurns(2, 2, `state ${i}`));
    const changes = await allChanges(store);
    expect(changes.map(({ rev, id }) => [rev, id])).toEqual([
      [1, "1"],
      [3, "3"],
      [8, "2"],
    ]);
    expect(changes[2]).toMatchObject({ row: { answer: { head: "state 4" } } });
    expect((await store.page(3, EVERYTHING)).changes.map(({ id }) => id)).toEqual(["2"]);
  });

  test("[F10] holds at most PAGE_MAX_ROWS, and says how many revs are left", async () => {
    const { store } = await open();
    const count = PAGE_MAX_ROWS + 10;
    await store.write(putTurns(1, count));
    const first = await store.page(0, EVERYTHING);
    expect([first.changes.length, first.upto, first.more]).toEqual([
      PAGE_MAX_ROWS,
      PAGE_MAX_ROWS,
      10,
    ]);
    const second = await store.page(first.upto, EVERYTHING);
    expect([second.changes.length, second.upto, second.more]).toEqual([10, count, 0]);
    const third = await store.page(second.upto, EVERYTHING);
    expect([third.changes.length, third.upto, third.more]).toEqual([0, count, 0]);
    expect(third.token).toBe(second.token);
  });

  test("[F10] holds at most PAGE_MAX_BYTES of encoded rows, but always one", async () => {
    const { store } = await open();
    const large = "x".repeat(PAGE_MAX_BYTES / 2 - 1_000);
    await store.write(putTurns(1, 4, large));
    await store.write(putTurns(5, 5, large + large + large));
    expect((await store.page(0, EVERYTHING)).changes.map(({ id }) => id)).toEqual(["1", "2"]);
    expect((await store.page(3, EVERYTHING)).changes.map(({ id }) => id)).toEqual(["4"]);
    expect((await store.page(4, EVERYTHING)).changes.map(({ id }) => id)).toEqual(["5"]);
  });

  test("[F10] counts what moved away as left, and has nothing left once there is nothing", async () => {
    const { store } = await open();
    await store.write(putTurns(1, PAGE_MAX_ROWS + 1));
    await store.write(putTurns(PAGE_MAX_ROWS + 1, PAGE_MAX_ROWS + 1, "again"));
    const first = await store.page(0, EVERYTHING);
    expect([first.changes.length, first.upto, first.more]).toEqual([
      PAGE_MAX_ROWS,
      PAGE_MAX_ROWS,
      2,
    ]);
    const second = await store.page(first.upto, EVERYTHING);
    expect([second.changes.length, second.more]).toEqual([1, 0]);
  });
}

function positions(open: () => Promise<StoreHarness>): void {
  test("[F4] knows the position of every page it gave, in and at the end of a commit", async () => {
    const harness = await open();
    await harness.store.write(putTurns(1, PAGE_MAX_ROWS + 1));
    await harness.store.write(putTurns(1, 1, "again"));
    const given = [];
    for (let cursor = 0; ; ) {
      const page = await harness.store.page(cursor, EVERYTHING);
      given.push(page);
      cursor = page.upto;
      if (page.more === 0) break;
    }
    const store = await harness.reopen();
    for (const { upto, token } of given)
      expect(await store.knowsPosition(upto, token, null)).toBe(true);
    expect(given).toHaveLength(2);
  });

  test("[F4] does not know a page that lacks a row because it had moved on in another history", async () => {
    const harness = await open();
    await harness.store.write(putTurns(1, PAGE_MAX_ROWS + 100));
    const copy = await harness.copy();
    await harness.store.write(putTurns(5, 5, "again"));
    const page = await harness.store.page(0, EVERYTHING);
    expect(page.changes.map(({ id }) => id)).not.toContain("5");
    expect(page.upto).toBeLessThan(copy.head);
    expect(await harness.store.knowsPosition(page.upto, page.token, null)).toBe(true);
    expect(await copy.knowsPosition(page.upto, page.token, null)).toBe(false);
  });

  test("[F4] knows no position beyond its head, and no token it did not make", async () => {
    const { store } = await open();
    await store.write(putTurns(1, 2));
    const { token } = await store.page(0, EVERYTHING);
    expect(await store.knowsPosition(2, token, null)).toBe(true);
    expect(await store.knowsPosition(3, token, null)).toBe(false);
    expect(await store.knowsPosition(2, `${token}x`, null)).toBe(false);
    expect(await store.knowsPosition(2, "", null)).toBe(false);
    expect(await store.knowsPosition(0, "", null)).toBe(true);
    expect(await store.knowsPosition(0, token, null)).toBe(false);
    for (const odd of [".", "2.", "2", "-2.x", "2e0.x", "99999999999999999999.x"]) {
      expect(await store.knowsPosition(2, odd, null)).toBe(false);
    }
  });

  test("[F4] tells a history from the one a copy of it took", async () => {
    const harness = await open();
    await harness.store.write(putTurns(1, 3));
    const common = await harness.store.page(0, EVERYTHING);
    const copy = await harness.copy();
    await harness.store.write(putTurns(4, 4));
    await copy.write(putTurns(4, 4));
    const here = await harness.store.page(3, EVERYTHING);
    expect(copy.epoch).toBe(harness.store.epoch);
    expect(copy.head).toBe(harness.store.head);
    expect(await copy.knowsPosition(common.upto, common.token, null)).toBe(true);
    expect(await copy.knowsPosition(here.upto, here.token, null)).toBe(false);
    expect(await harness.store.knowsPosition(here.upto, here.token, null)).toBe(true);
  });
}

function tombstones(open: () => Promise<StoreHarness>): void {
  test("replaces a row by a tombstone with the next rev, which stays in the feed", async () => {
    const { store } = await open();
    await store.write((tx) => tx.put("device", null, device, sampleDevice()));
    const { value } = await store.write((tx) => tx.remove("device", null, device));
    expect(value).toBe(2);
    expect(await store.row("device", null, device)).toBeNull();
    expect(await store.rows("device")).toEqual([]);
    const tombstone = { rev: 2, kind: "device", sessionId: null, id: device, row: null };
    expect(await allChanges(store)).toEqual([tombstone]);
    expect((await store.write((tx) => tx.remove("device", null, device))).value).toBe(2);
    await store.write((tx) => tx.put("device", null, device, sampleDevice()));
    expect(await allChanges(store)).toMatchObject([{ rev: 3, row: { role: "owner" } }]);
  });

  test("[R1] takes all rows of a session with its tombstone, and nothing of another", async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      for (const id of [session, other]) {
        await tx.put("session", id, id, sampleSession());
        await tx.put("request", id, "request-a-------", sampleRequest());
        await tx.put("turn", id, "1", sampleTurn({ answer: await tx.text("long ".repeat(9_000)) }));
        await tx.saveStream({ sessionId: id, turnId: 1, parts: { answer: "so far" } });
      }
    });
    await store.write((tx) => tx.remove("session", session, session));
    expect(
      (await allChanges(store)).map(({ rev, kind, row }) => [rev, kind, row === null]),
    ).toEqual([
      [4, "session", false],
      [5, "request", false],
      [6, "turn", false],
      [7, "session", true],
    ]);
    expect(await store.rows("turn", session)).toEqual([]);
    expect((await store.savedStreams()).map(({ sessionId }) => sessionId)).toEqual([other]);
    const kept = await store.row("turn", other, "1");
    expect(kept && (await store.wholeText(kept.row.answer))).toHaveLength(45_000);
  });

  test("[R1] lets no straggler bring a deleted session back", async () => {
    const { store } = await open();
    await store.write((tx) => tx.put("session", session, session, sampleSession()));
    await store.write((tx) => tx.remove("session", session, session));
    const { head } = store;
    const gone = { code: "session_deleted" };
    const straggle = (work: (tx: WriteTx) => Promise<unknown>) =>
      expect(store.write(work)).rejects.toMatchObject(gone);
    await straggle((tx) => tx.put("turn", session, "1", sampleTurn()));
    await straggle((tx) => tx.put("session", session, session, sampleSession()));
    await straggle((tx) => tx.saveStream({ sessionId: session, turnId: 1, parts: {} }));
    const removed = await store.write((tx) => tx.remove("turn", session, "1"));
    expect(removed).toEqual({ value: head, head });
    await straggle(async (tx) => {
      await tx.put("turn", other, "1", sampleTurn());
      await tx.put("session", other, other, sampleSession());
      await tx.remove("session", other, other);
      await tx.put("turn", other, "2", sampleTurn());
    });
    expect(store.head).toBe(head);
  });
}

function blobs(open: () => Promise<StoreHarness>): void {
  const long = `${"é".repeat(9_000)}😀`;
  const size = 18_004;

  test("[R2] keeps a short text in the row and a long one as a blob with its beginning", async () => {
    const { store } = await open();
    const { value } = await store.write(async (tx) => {
      const bodies = [await tx.text("short"), await tx.text(`x${long}`)] as const;
      await tx.put("turn", session, "1", sampleTurn({ answer: bodies[1] }));
      return bodies;
    });
    expect(value[0]).toEqual({ head: "short", size: 5, blob: null });
    expect(value[1]).toMatchObject({ head: `x${"é".repeat(1_023)}`, size: size + 1 });
    expect(value[1].blob).toMatch(/^[0-9a-f]{64}$/);
    expect(await store.wholeText(value[0])).toBe("short");
    expect(await store.wholeText(value[1])).toBe(`x${long}`);
  });

  test("[R2] reads a blob in windows of at most BLOB_CHUNK_MAX_BYTES", async () => {
    const { store } = await open();
    const text = "0123456789".repeat(60_000);
    const { value } = await store.write(async (tx) => {
      const answer = await tx.text(text);
      await tx.put("turn", session, "1", sampleTurn({ answer }));
      return answer.blob;
    });
    if (value === null) throw new Error("expected a blob");
    const read = async (offset: number, length: number) => {
      const found = await store.readBlob(value, offset, length);
      return found && [new TextDecoder().decode(found.bytes), found.size];
    };
    expect(await read(3, 4)).toEqual(["3456", 600_000]);
    expect(await read(599_998, 100)).toEqual(["89", 600_000]);
    expect(await read(600_000, 100)).toEqual(["", 600_000]);
    expect((await store.readBlob(value, 0, 600_000))?.bytes).toHaveLength(BLOB_CHUNK_MAX_BYTES);
    expect(await store.readBlob("0".repeat(64) as typeof value, 0, 10)).toBeNull();
  });

  test("stores a text once, and keeps it while a row refers to it", async () => {
    const { store } = await open();
    const put = (id: string, text: string) =>
      store.write(async (tx) => {
        const answer = await tx.text(text);
        await tx.put("turn", session, id, sampleTurn({ answer }));
        return answer;
      });
    const { value: body } = await put("1", long);
    await put("2", long);
    await put("1", "");
    expect(await store.wholeText(body)).toBe(long);
    await store.write((tx) => tx.remove("turn", session, "2"));
    await expect(store.wholeText(body)).rejects.toMatchObject({ code: "blob_missing" });
  });

  test("keeps a blob that is released and taken up again in one transaction", async () => {
    const { store } = await open();
    const { value: answer } = await store.write(async (tx) => {
      const body = await tx.text(long);
      await tx.put("turn", session, "1", sampleTurn({ answer: body }));
      return body;
    });
    await store.write(async (tx) => {
      await tx.remove("turn", session, "1");
      await tx.put("turn", session, "2", sampleTurn({ answer }));
    });
    expect(await store.wholeText(answer)).toBe(long);
  });

  test("keeps no blob that no row took up, and lets none be referred to that is not there", async () => {
    const { store } = await open();
    const { value: answer } = await store.write((tx) => tx.text(long));
    await expect(store.wholeText(answer)).rejects.toMatchObject({ code: "blob_missing" });
    const put = store.write((tx) => tx.put("turn", session, "1", sampleTurn({ answer })));
    await expect(put).rejects.toMatchObject({ code: "blob_missing" });
    expect(store.head).toBe(0);
  });

  test("[F9] says whether a row of a session granted to a device refers to a blob", async () => {
    const { store } = await open();
    const { value: hash } = await store.write(async (tx) => {
      const answer = await tx.text(long);
      for (const id of [session, other]) await tx.put("turn", id, "1", sampleTurn({ answer }));
      return answer.blob;
    });
    if (hash === null) throw new Error("expected a blob");
    const grant = (to: typeof session, id = device) =>
      store.write((tx) => tx.put("grant", to, id, { shareId: "share", createdAt: 1 }));
    await grant(sampleSessionId("session-c"));
    await grant(session, sampleDeviceId("device-b"));
    expect(await store.isBlobGranted(hash, device)).toBe(false);
    for (const id of [session, other]) await grant(id);
    expect(await store.isBlobGranted(hash, device)).toBe(true);
    await store.write((tx) => tx.remove("grant", session, device));
    expect(await store.isBlobGranted(hash, device)).toBe(true);
    await store.write((tx) => tx.put("turn", other, "1", sampleTurn()));
    expect(await store.isBlobGranted(hash, device)).toBe(false);
  });

  test("releases a session's blobs with its tombstone", async () => {
    const { store } = await open();
    const { value: body } = await store.write(async (tx) => {
      const answer = await tx.text(long);
      await tx.put("session", session, session, sampleSession());
      await tx.put("turn", session, "1", sampleTurn({ answer, reasoning: answer }));
      return answer;
    });
    await store.write((tx) => tx.remove("session", session, session));
    await expect(store.wholeText(body)).rejects.toMatchObject({ code: "blob_missing" });
  });
}

function besideTheFeed(open: () => Promise<StoreHarness>): void {
  test("[F5] stores a command and its answer in the transaction of its effect", async () => {
    const harness = await open();
    const command = {
      commandId,
      method: "session.pin",
      paramsHash: "hash",
      answer: { n: [1, "a"] },
    };
    await harness.store.write(async (tx) => {
      await tx.put("session", session, session, sampleSession());
      await tx.rememberCommand(command, device, 5);
      expect(await tx.command(commandId)).toEqual(command);
    });
    const store = await harness.reopen();
    expect(await store.command(commandId)).toEqual(command);
    const again = store.write(async (tx) => {
      await tx.put("session", session, session, sampleSession({ pinned: true }));
      await tx.rememberCommand(command, device, 6);
    });
    await expect(again).rejects.toThrow();
    expect((await store.row("session", session, session))?.row.pinned).toBe(false);
  });

  test("[F8] keeps what a stream was last saved as, outside the feed, until it is dropped", async () => {
    const harness = await open();
    const stream = { sessionId: session, turnId: 4, parts: { answer: "so f", "output:a": "x" } };
    await harness.store.write((tx) => tx.saveStream({ ...stream, parts: { answer: "so" } }));
    await harness.store.write((tx) => tx.saveStream(stream));
    expect(harness.store.head).toBe(0);
    const store = await harness.reopen();
    expect(await store.savedStreams()).toEqual([stream]);
    await store.write((tx) => tx.dropStream(session, 4));
    expect(await store.savedStreams()).toEqual([]);
  });

  test("[F2] moves a device's cursor forward only, and keeps it a second later", async () => {
    const harness = await open();
    expect(await harness.store.deviceCursor(device)).toBe(0);
    harness.store.ackDevice(device, 7);
    harness.store.ackDevice(device, 5);
    expect(await harness.store.deviceCursor(device)).toBe(7);
    await harness.advance(1_000);
    const copy = await harness.copy();
    expect(await copy.deviceCursor(device)).toBe(7);
    harness.store.ackDevice(device, 9);
    const store = await harness.reopen();
    expect(await store.deviceCursor(device)).toBe(9);
  });

  test("[F4] lets a device start over", async () => {
    const harness = await open();
    harness.store.ackDevice(device, 7);
    harness.store.restartDevice(device);
    expect(await harness.store.deviceCursor(device)).toBe(0);
    harness.store.ackDevice(device, 2);
    const store = await harness.reopen();
    expect(await store.deviceCursor(device)).toBe(2);
  });

  test("refuses writes once it is closed, after finishing those under way", async () => {
    const harness = await open();
    const write = harness.store.write(putTurns(1, 1));
    const closing = harness.store.close();
    const late = expect(harness.store.write(putTurns(2, 2))).rejects.toThrow("closed");
    expect((await write).head).toBe(1);
    await Promise.all([closing, late]);
    expect((await harness.reopen()).head).toBe(1);
  });
}
