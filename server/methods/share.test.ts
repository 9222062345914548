import { describe, expect, test } from "vitest";
import type { DeviceId, SessionId } from "../../shared/ids.ts";
import { shareIdOf } from "../feed/shares.ts";
import { freshCommandId, makeSessionBench, OWNER } from "../testing/session-bench.ts";
import type { Peer } from "../transport/connection.ts";

const DAY_MS = 86_400_000;
const shareId = shareIdOf("secret");
const LOCAL: Peer = { kind: "local" };

const failsWith = (code: string) => ({ wire: { code } });

describe("share.create", () => {
  test("writes who made the link, when, and how long it is good", async () => {
    const { store, clock, send, newSession } = await makeSessionBench();
    const sessionId = await newSession();
    expect(await send("share.create", { sessionId, shareId, days: 7 })).toEqual({});
    expect((await store.row("share", sessionId, shareId))?.row).toEqual({
      createdAt: clock.now(),
      createdBy: OWNER.kind === "device" ? OWNER.deviceId : null,
      expiresAt: clock.now() + 7 * DAY_MS,
    });
    const open = shareIdOf("another");
    await send("share.create", { sessionId, shareId: open, days: null });
    expect((await store.row("share", sessionId, open))?.row.expiresAt).toBeNull();
  });

  test("from the daemon's own machine has no device that made it", async () => {
    const { store, dispatch, newSession } = await makeSessionBench();
    const params = { sessionId: await newSession(), shareId, days: 1 };
    const commandId = freshCommandId();
    await dispatch(LOCAL, { method: "share.create", params, commandId });
    expect((await store.rows("share")).map(({ row }) => row.createdBy)).toEqual([null]);
  });

  test("[F5] sent twice, at once and later, makes one link and answers the same", async () => {
    const { store, send, newSession } = await makeSessionBench();
    const sessionId = await newSession();
    const commandId = freshCommandId();
    const create = () => send("share.create", { sessionId, shareId, days: 1 }, commandId);
    expect(await Promise.all([create(), create()])).toEqual([{}, {}]);
    const { head } = store;
    expect(await create()).toEqual({});
    expect(store.head).toBe(head);
  });

  test("refuses what names no session, no hash or no number of days", async () => {
    const { send, store, newSession } = await makeSessionBench();
    const sessionId = await newSession();
    const { head } = store;
    const create = (params: object) =>
      send("share.create", { sessionId, shareId, days: 1, ...params });
    for (const days of [0, -1, 1.5, 366]) {
      await expect(create({ days })).rejects.toMatchObject(failsWith("bad_params"));
    }
    for (const bad of ["", "short", `${shareId}x`, `${shareId.slice(1)}/`]) {
      await expect(create({ shareId: bad })).rejects.toMatchObject(failsWith("bad_params"));
    }
    const never = "no-such-session-" as SessionId;
    await expect(create({ sessionId: never })).rejects.toMatchObject(failsWith("session_gone"));
    await send("session.delete", { sessionId });
    await expect(create({})).rejects.toMatchObject(failsWith("session_gone"));
    expect(store.head).toBe(head + 1);
  });
});

describe("share.revoke", () => {
  const viewer = "viewer-device-001" as DeviceId;

  test("takes the link and what was granted by it, in one transaction", async () => {
    const { store, send, newSession } = await makeSessionBench();
    const sessionId = await newSession();
    await send("share.create", { sessionId, shareId, days: null });
    await store.write((tx) => tx.put("grant", sessionId, viewer, { shareId, createdAt: 1 }));
    let commits = 0;
    store.onCommit(() => {
      commits += 1;
    });
    expect(await send("share.revoke", { sessionId, shareId })).toEqual({});
    expect(commits).toBe(1);
    expect(await store.rows("share")).toEqual([]);
    expect(await store.rows("grant")).toEqual([]);
  });

  test("[F5] sent twice acts once; another one says share_gone", async () => {
    const { send, newSession } = await makeSessionBench();
    const sessionId = await newSession();
    await send("share.create", { sessionId, shareId, days: null });
    const commandId = freshCommandId();
    const revoke = (id?: string) => send("share.revoke", { sessionId, shareId }, id);
    expect(await Promise.all([revoke(commandId), revoke(commandId)])).toEqual([{}, {}]);
    expect(await revoke(commandId)).toEqual({});
    await expect(revoke()).rejects.toMatchObject(failsWith("share_gone"));
  });

  test("races with the session's deletion: one link, gone either way", async () => {
    const { store, send, newSession } = await makeSessionBench();
    for (let round = 0; round < 6; round += 1) {
      const sessionId = await newSession();
      const create = send("share.create", { sessionId, shareId, days: null });
      const remove = send("session.delete", { sessionId });
      const [created, removed] = await Promise.allSettled([create, remove]);
      expect(removed.status).toBe("fulfilled");
      if (created.status === "rejected") {
        expect(created.reason).toMatchObject(failsWith("session_gone"));
      }
      expect(await store.rows("share")).toEqual([]);
    }
  });
});
