// Which rows a store gives to whom (F9): part of what every implementation of `Store` must do.

import { describe, expect, test } from "vitest";
import { PAGE_MAX_ROWS } from "../../shared/limits.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import {
  sampleDevice,
  sampleDeviceId,
  sampleGrant,
  sampleRequest,
  sampleSession,
  sampleSessionId,
  sampleShare,
  sampleToolResult,
  sampleTurn,
} from "../testing/sample-rows.ts";
import { EVERYTHING, type Store, type WriteTx } from "./store.ts";

type Open = () => Promise<{ readonly store: Store }>;

const session = sampleSessionId("session-a");
const other = sampleSessionId("session-b");
const device = sampleDeviceId("device-a");

const putTurns = (from: number, to: number, model = "a") =>
  async function work(tx: WriteTx) {
    for (let id = from; id <= to; id += 1) {
      await tx.put("turn", session, String(id), sampleTurn({ model }));
    }
  };

export function visibilityContract(name: string, open: Open): void {
  describe(`${name}: what is left out`, () => leavingOut(open));
  describe(`${name}: viewers`, () => viewers(open));
}

const rowIds = (changes: readonly Change[]) => changes.map(({ rev, kind, id }) => [rev, kind, id]);

function leavingOut(open: Open): void {
  const without = (...ids: (typeof session)[]) => ({ viewer: null, leftOut: new Set(ids) });

  test("[F9] [V1] gives all rows but the bodies of sessions that are left out", async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await tx.put("session", session, session, sampleSession());
      await tx.put("request", session, "request-a-------", sampleRequest());
      await tx.put("turn", session, "1", sampleTurn());
      await tx.put("toolResult", session, "1/a", sampleToolResult(1, "a"));
      await tx.put("share", session, "share", sampleShare());
      await tx.put("grant", session, device, sampleGrant());
      await tx.put("turn", other, "1", sampleTurn());
      await tx.put("device", null, device, sampleDevice());
    });
    const page = await store.page(0, without(session));
    expect(rowIds(page.changes)).toEqual([
      [1, "session", session],
      [5, "share", "share"],
      [6, "grant", device],
      [7, "turn", "1"],
      [8, "device", device],
    ]);
    expect([page.upto, page.more, page.granted]).toEqual([8, 0, []]);
    expect(await store.knowsPosition(page.upto, page.token, null)).toBe(true);
  });

  test("[F9] [F10] ends a page that finds nothing, in the end at the head", async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      for (let i = 0; i < 8_200; i += 1) {
        await tx.put("turn", session, "1", sampleTurn({ createdAt: i }));
      }
      await tx.put("device", null, device, sampleDevice());
    });
    const found = [];
    let pages = 0;
    for (let cursor = 0; ; ) {
      const page = await store.page(cursor, without(session));
      expect(page.more).toBe(store.head - page.upto);
      expect(page.upto).toBeGreaterThan(cursor);
      expect(await store.knowsPosition(page.upto, page.token, null)).toBe(true);
      found.push(...page.changes);
      pages += 1;
      cursor = page.upto;
      if (page.more === 0) break;
    }
    expect(found.map(({ kind }) => kind)).toEqual(["device"]);
    expect(pages).toBe(2);
  }, 20_000);

  test("[F9] fills pages with what is not left out, however much lies between", async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      for (let id = 1; id <= PAGE_MAX_ROWS + 5; id += 1) {
        await tx.put("turn", session, String(id), sampleTurn());
        await tx.put("turn", other, String(id), sampleTurn());
      }
    });
    const first = await store.page(0, without(session));
    expect(first.changes).toHaveLength(PAGE_MAX_ROWS);
    expect(new Set(first.changes.map(({ sessionId }) => sessionId))).toEqual(new Set([other]));
    const second = await store.page(first.upto, without(session));
    expect([second.changes.length, second.more]).toEqual([5, 0]);
  });

  test("[V2] gives a session's bodies in parts, in rev order, up to a rev", async () => {
    const { store } = await open();
    const count = PAGE_MAX_ROWS + 20;
    await store.write(async (tx) => {
      await tx.put("session", session, session, sampleSession());
      for (let id = 1; id <= count; id += 1) {
        await tx.put("turn", session, String(id), sampleTurn());
        await tx.put("turn", other, String(id), sampleTurn());
      }
      await tx.remove("turn", session, "3");
    });
    const upto = store.head;
    const first = await store.bodies({ sessionId: session, after: 0, upto }, null);
    expect([first.changes.length, first.isLast, first.head]).toEqual([PAGE_MAX_ROWS, false, upto]);
    const after = first.changes.at(-1)?.rev ?? 0;
    await store.write(putTurns(1, 1, "moved"));
    await store.write(putTurns(count, count, "moved"));
    const last = await store.bodies({ sessionId: session, after, upto }, null);
    const ids = [...first.changes, ...last.changes].map(({ id }) => Number(id));
    expect(ids).toEqual(
      Array.from({ length: count - 1 }, (_, i) => i + 1).filter((id) => id !== 3),
    );
    expect([last.isLast, last.head]).toEqual([true, upto + 2]);
    const nothing = await store.bodies({ sessionId: session, after: upto, upto }, null);
    expect([nothing.changes, nothing.isLast]).toEqual([[], true]);
  });

  test("says which sessions there are", async () => {
    const { store } = await open();
    const deleted = sampleSessionId("deleted");
    await store.write(async (tx) => {
      await tx.put("session", session, session, sampleSession());
      await tx.put("session", other, other, sampleSession());
      await tx.put("session", deleted, deleted, sampleSession());
      await tx.remove("session", deleted, deleted);
    });
    const unknown = sampleSessionId("unknown");
    expect(await store.existingSessions([unknown, deleted, session])).toEqual([session]);
    expect(await store.existingSessions([])).toEqual([]);
  });

  test("[V1] gives the sessions' own rows above a rev, tombstones too", async () => {
    const { store } = await open();
    await store.write(async (tx) => {
      await tx.put("session", session, session, sampleSession());
      await tx.put("session", other, other, sampleSession());
      await tx.put("turn", session, "1", sampleTurn());
    });
    const { sessions, head } = await store.sessionsAfter(1);
    expect([sessions.map(({ id, row }) => [id, row !== null]), head]).toEqual([[[other, true]], 3]);
    await store.write((tx) => tx.remove("session", session, session));
    expect(await store.sessionsAfter(head)).toMatchObject({
      sessions: [{ id: session, row: null }],
      head: store.head,
    });
  });
}

function viewers(open: Open): void {
  const stranger = sampleDeviceId("device-b");
  const asViewer = (...leftOut: (typeof session)[]) => ({
    viewer: device,
    leftOut: new Set(leftOut),
  });
  const prepared = async () => {
    const harness = await open();
    await harness.store.write(async (tx) => {
      for (const id of [session, other]) {
        await tx.put("session", id, id, sampleSession({ title: id }));
        await tx.put("turn", id, "1", sampleTurn());
      }
      await tx.put("device", null, stranger, sampleDevice());
      await tx.put("device", null, device, sampleDevice({ role: "viewer" }));
    });
    return harness;
  };

  test("[F9] see their own device, and of the rest nothing", async () => {
    const { store } = await prepared();
    const page = await store.page(0, asViewer());
    expect(rowIds(page.changes)).toEqual([[6, "device", device]]);
    expect([page.upto, page.more, page.granted]).toEqual([6, 0, []]);
    const range = { sessionId: session, after: 0, upto: 6 };
    expect((await store.bodies(range, device)).changes).toEqual([]);
  });

  test("[F9] [V6] get a grant as the session's row under the grant's rev, and later its other rows", async () => {
    const { store } = await prepared();
    await store.write(async (tx) => {
      await tx.put("share", session, "share", sampleShare());
      await tx.put("grant", session, device, sampleGrant());
      await tx.put("grant", other, stranger, sampleGrant());
      await tx.put("turn", session, "2", sampleTurn());
      await tx.put("turn", other, "2", sampleTurn());
      await tx.put("session", session, session, sampleSession({ title: "renamed" }));
    });
    const page = await store.page(6, asViewer());
    expect(rowIds(page.changes)).toEqual([
      [8, "session", session],
      [12, "session", session],
    ]);
    expect(page.changes[0]).toMatchObject({ row: { title: "renamed" } });
    expect(page.granted).toEqual([session]);
    const range = { sessionId: session, after: 0, upto: page.upto };
    const fill = await store.bodies(range, device);
    expect(rowIds(fill.changes)).toEqual([
      [2, "turn", "1"],
      [10, "turn", "2"],
    ]);
    await store.write((tx) => tx.put("turn", session, "3", sampleTurn()));
    const next = await store.page(page.upto, asViewer());
    expect([rowIds(next.changes), next.granted]).toEqual([[[13, "turn", "3"]], []]);
    expect((await store.page(page.upto, asViewer(session))).changes).toEqual([]);
  });

  test("[F9] [V6] get a grant's tombstone as the session's, a renewed grant as the session anew", async () => {
    const { store } = await prepared();
    await store.write((tx) => tx.put("grant", session, device, sampleGrant()));
    await store.write((tx) => tx.remove("grant", session, device));
    await store.write((tx) => tx.put("turn", session, "2", sampleTurn()));
    const revoked = await store.page(7, asViewer());
    const gone = { rev: 8, kind: "session", sessionId: session, id: session, row: null };
    expect(revoked.changes).toEqual([gone]);
    expect([revoked.upto, revoked.more, revoked.granted]).toEqual([9, 0, []]);
    await store.write((tx) => tx.put("grant", session, device, sampleGrant()));
    const again = await store.page(revoked.upto, asViewer());
    expect(rowIds(again.changes)).toEqual([[10, "session", session]]);
    expect(again.granted).toEqual([session]);
    expect(rowIds((await store.page(0, asViewer())).changes)).toEqual([
      [6, "device", device],
      [10, "session", session],
    ]);
  });

  test("[F9] hear that a session was deleted, whenever they come", async () => {
    const { store } = await prepared();
    await store.write((tx) => tx.put("grant", session, device, sampleGrant()));
    await store.write((tx) => tx.put("grant", session, stranger, sampleGrant()));
    await store.write((tx) => tx.remove("grant", session, stranger));
    await store.write((tx) => tx.remove("session", session, session));
    for (const [viewer, rev] of [
      [device, 10],
      [stranger, 9],
    ] as const) {
      const { changes } = await store.page(7, { viewer, leftOut: new Set() });
      expect(changes).toEqual([
        { rev, kind: "session", sessionId: session, id: session, row: null },
      ]);
    }
    expect(rowIds((await store.page(7, EVERYTHING)).changes)).toEqual([
      [9, "grant", stranger],
      [10, "grant", device],
      [11, "session", session],
    ]);
    expect(await store.rows("grant")).toEqual([]);
  });

  test("[F9] get long sessions in pages like everyone", async () => {
    const { store } = await prepared();
    await store.write((tx) => tx.put("grant", session, device, sampleGrant()));
    await store.write(putTurns(2, PAGE_MAX_ROWS + 51));
    const first = await store.page(7, asViewer());
    expect([first.changes.length, first.more]).toEqual([PAGE_MAX_ROWS, 50]);
    const second = await store.page(first.upto, asViewer());
    expect([second.changes.length, second.more]).toEqual([50, 0]);
  });

  test("[F4] hold other positions than owners: who becomes one starts over", async () => {
    const { store } = await prepared();
    const owners = await store.page(0, EVERYTHING);
    const viewers = await store.page(0, asViewer());
    const isKnown = ({ upto, token }: typeof owners, viewer: typeof device | null) =>
      store.knowsPosition(upto, token, viewer);
    expect([await isKnown(owners, null), await isKnown(owners, device)]).toEqual([true, false]);
    expect([await isKnown(viewers, null), await isKnown(viewers, device)]).toEqual([false, true]);
  });
}
