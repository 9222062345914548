import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type DeviceId, type SessionId, toBase64Url } from "../../shared/ids.ts";
import { SHARE_MAX_DAYS } from "../../shared/limits.ts";
import type { LogFields } from "../log.ts";
import { sampleSession, sampleSessionId } from "../testing/sample-rows.ts";
import { makeKeys } from "../testing/socket-client.ts";
import { openTemporaryStore, silentLog } from "../testing/temporary-store.ts";
import { createDevices, deviceIdOf } from "./devices.ts";
import { EXPIRY_CHECK_MS, SHARE_VIEWERS_MAX, Shares, shareIdOf } from "./shares.ts";

const DAY_MS = 86_400_000;
const session = sampleSessionId("session-a");
const other = sampleSessionId("session-b");

interface Visitor {
  readonly id: DeviceId;
  readonly publicKey: Uint8Array;
}

async function setUp() {
  const { store, clock } = await openTemporaryStore();
  const logged: [LogFields, string][] = [];
  const log = {
    ...silentLog,
    error: (fields: LogFields, message: string) => logged.push([fields, message]),
  };
  const shares = new Shares({ store, clock, log });
  const promoted: DeviceId[] = [];
  const devices = createDevices({
    store,
    shares,
    clock,
    randomBytes,
    onRevoked: () => {},
    onPromoted: (deviceId) => promoted.push(deviceId),
  });
  await store.write(async (tx) => {
    for (const id of [session, other]) await tx.put("session", id, id, sampleSession());
  });
  const visitor = (): Visitor => {
    const { publicKey } = makeKeys();
    return { id: deviceIdOf(publicKey), publicKey };
  };
  const knock = (
    { publicKey }: Visitor,
    enrolment: { kind: "launch" | "share"; secret: string } | null = null,
  ) =>
    devices.admit(publicKey, {
      versions: [1],
      appVersion: "1.0.0",
      deviceName: "A tablet",
      enrolment,
    });
  return {
    store,
    clock,
    shares,
    devices,
    promoted,
    logged,
    visitor,
    knock,
    bring: (who: Visitor, secret: string) => knock(who, { kind: "share", secret }),
    launch: (who: Visitor) =>
      knock(who, { kind: "launch", secret: devices.makeLaunchToken().secret }),
    async share(of: SessionId = session, days: number | null = null) {
      const secret = toBase64Url(randomBytes(16));
      const shareId = shareIdOf(secret);
      await store.write((tx) => shares.create(tx, { sessionId: of, shareId, days }, null));
      return { secret, shareId };
    },
    revoke: (shareId: string, of: SessionId = session) =>
      store.write((tx) => shares.revoke(tx, of, shareId)),
    device: async ({ id }: Visitor) => (await store.row("device", null, id))?.row,
    /** The sessions that the device was granted. */
    granted: async ({ id }: Visitor) =>
      (await store.rowsById("grant", id)).map(({ sessionId }) => sessionId),
  };
}

const admitted = (role: string) => ({ outcome: "admitted", role });
const refused = (code: string) => ({ outcome: "refused", error: { code, retryable: false } });

describe("the secret of a share", () => {
  test("is stored as the first 16 bytes of the SHA-256 of its characters", () => {
    expect(shareIdOf("AAAAAAAAAAAAAAAAAAAAAA")).toBe("ilvbTMFRZBJsbvJmjendJA");
  });

  test("[H7] lets a stranger in as a viewer of one session, its device row before its grant", async () => {
    const { share, bring, visitor, store, clock } = await setUp();
    const { secret, shareId } = await share();
    const who = visitor();
    expect(await bring(who, secret)).toMatchObject({ ...admitted("viewer"), deviceId: who.id });
    const device = await store.row("device", null, who.id);
    const grant = await store.row("grant", session, who.id);
    expect(device?.row).toMatchObject({ role: "viewer", name: "A tablet", revokedAt: null });
    expect(grant?.row).toEqual({ shareId, createdAt: clock.now() });
    expect(device?.rev).toBeLessThan(grant?.rev ?? 0);
  });

  test("[H7] lets many in, and known viewers to one session more", async () => {
    const { share, bring, knock, visitor, granted, store } = await setUp();
    const [first, second] = [await share(), await share(other)];
    const [a, b] = [visitor(), visitor()];
    for (const who of [a, b])
      expect(await bring(who, first.secret)).toMatchObject({ role: "viewer" });
    expect(await bring(a, second.secret)).toMatchObject(admitted("viewer"));
    expect(await granted(a)).toEqual([session, other]);
    expect(await granted(b)).toEqual([session]);
    const { head } = store;
    expect(await bring(a, second.secret)).toMatchObject(admitted("viewer"));
    expect(await knock(a)).toMatchObject(admitted("viewer"));
    expect(store.head).toBe(head);
  });

  test("[H7] changes nothing for an owner, whatever secret it is", async () => {
    const { share, bring, launch, visitor, granted } = await setUp();
    const owner = visitor();
    await launch(owner);
    const { secret } = await share();
    for (const each of [secret, "no such secret"]) {
      expect(await bring(owner, each)).toMatchObject(admitted("owner"));
    }
    expect(await granted(owner)).toEqual([]);
  });

  test("[H7] that is unknown lets nobody in and writes nothing", async () => {
    const { share, bring, knock, visitor, store } = await setUp();
    const { secret, shareId } = await share();
    const known = visitor();
    await bring(known, secret);
    const { head } = store;
    for (const wrong of ["", "wrong", shareId, `${secret}x`]) {
      const refusal = { ...refused("enrolment_invalid"), error: { details: { kind: "share" } } };
      expect(await bring(visitor(), wrong)).toMatchObject(refusal);
      expect(await bring(known, wrong)).toMatchObject(refusal);
      expect(await knock(visitor(), { kind: "launch", secret })).toMatchObject(
        refused("enrolment_invalid"),
      );
    }
    expect(await knock(known)).toMatchObject(admitted("viewer"));
    expect(store.head).toBe(head);
  });

  test("[H7] lets in no device that was revoked, before or after", async () => {
    const { share, bring, knock, launch, visitor, devices, store, granted } = await setUp();
    const { secret } = await share();
    const [viewer, owner] = [visitor(), visitor()];
    await bring(viewer, secret);
    await launch(owner);
    for (const { id } of [viewer, owner]) {
      await store.write((tx) => devices.revokeDevice(tx, id));
    }
    expect(await granted(viewer)).toEqual([]);
    for (const who of [viewer, owner]) {
      expect(await bring(who, secret)).toMatchObject(refused("device_revoked"));
      expect(await knock(who)).toMatchObject(refused("device_revoked"));
    }
    expect(await launch(viewer)).toMatchObject(admitted("owner"));
  });

  test("[H7] lets in no more than SHARE_VIEWERS_MAX, however many come at once", async () => {
    const { share, bring, visitor, devices, store } = await setUp();
    const { secret } = await share();
    const visitors = Array.from({ length: SHARE_VIEWERS_MAX + 6 }, visitor);
    const answers = await Promise.all(visitors.map((who) => bring(who, secret)));
    const inside = visitors.filter((_, i) => answers[i]?.outcome === "admitted");
    expect(inside).toHaveLength(SHARE_VIEWERS_MAX);
    expect(await store.rows("device")).toHaveLength(SHARE_VIEWERS_MAX);
    const late = visitor();
    const full = await bring(late, secret);
    expect(full).toMatchObject({ ...refused("share_full"), error: { details: { limit: 64 } } });
    const [first] = inside;
    if (first === undefined) throw new Error("nobody was let in");
    expect(await bring(first, secret)).toMatchObject(admitted("viewer"));
    await store.write((tx) => devices.revokeDevice(tx, first.id));
    expect(await bring(late, secret)).toMatchObject(admitted("viewer"));
  });
});

describe("a launch link opened by a viewer", () => {
  test("[H6] makes it an owner, whose grants go and whose open connections end", async () => {
    const { share, bring, knock, launch, visitor, granted, device, promoted } = await setUp();
    const who = visitor();
    await bring(who, (await share()).secret);
    await bring(who, (await share(other)).secret);
    expect(await launch(who)).toMatchObject({ ...admitted("owner"), deviceId: who.id });
    expect(await granted(who)).toEqual([]);
    expect(await device(who)).toMatchObject({ role: "owner", name: "A tablet" });
    expect(promoted).toEqual([who.id]);
    expect(await knock(who)).toMatchObject(admitted("owner"));
    expect(await launch(who)).toMatchObject(admitted("owner"));
    expect(promoted).toEqual([who.id]);
  });
});

describe("taking a link back", () => {
  test("[H8] takes the session from its viewers, who stay enrolled, and lets nobody in", async () => {
    const { share, bring, knock, revoke, visitor, granted, store } = await setUp();
    const [first, second] = [await share(), await share()];
    const [a, b] = [visitor(), visitor()];
    await bring(a, first.secret);
    await bring(b, second.secret);
    await revoke(first.shareId);
    expect(await granted(a)).toEqual([]);
    expect(await granted(b)).toEqual([session]);
    expect(await store.row("share", session, first.shareId)).toBeNull();
    expect(await knock(a)).toMatchObject(admitted("viewer"));
    expect(await bring(a, first.secret)).toMatchObject(refused("enrolment_invalid"));
    expect(await bring(a, second.secret)).toMatchObject(admitted("viewer"));
    expect(await granted(a)).toEqual([session]);
  });

  test("[H8] of two links to one session the one opened last counts", async () => {
    const { share, bring, revoke, visitor, granted } = await setUp();
    const [first, second] = [await share(), await share()];
    const who = visitor();
    await bring(who, first.secret);
    await bring(who, second.secret);
    await revoke(first.shareId);
    expect(await granted(who)).toEqual([session]);
    await revoke(second.shareId);
    expect(await granted(who)).toEqual([]);
  });

  test("[H8] while a device is being let in by it leaves no grant behind, whichever is first", async () => {
    const { share, bring, revoke, visitor, store } = await setUp();
    for (let round = 0; round < 10; round += 1) {
      const { secret, shareId } = await share();
      const comings = Array.from({ length: 4 }, () => bring(visitor(), secret));
      if (round % 2 === 0) await comings[round % 4];
      await revoke(shareId);
      await Promise.all(comings);
      expect(await store.rows("grant")).toEqual([]);
    }
  });

  test("says share_gone of one that is not there, session_gone of a session that is not", async () => {
    const { share, revoke, store } = await setUp();
    const { shareId } = await share();
    const failsWith = (code: string) => ({ wire: { code } });
    await expect(revoke(shareIdOf("another"))).rejects.toMatchObject(failsWith("share_gone"));
    await expect(revoke(shareId, other)).rejects.toMatchObject(failsWith("share_gone"));
    await revoke(shareId);
    await expect(revoke(shareId)).rejects.toMatchObject(failsWith("share_gone"));
    await store.write((tx) => tx.remove("session", session, session));
    await expect(revoke(shareId)).rejects.toMatchObject(failsWith("session_gone"));
    await expect(share(sampleSessionId("never"))).rejects.toMatchObject(failsWith("session_gone"));
  });

  test("deleting the session takes shares and grants with it", async () => {
    const { share, bring, knock, visitor, granted, store } = await setUp();
    const { secret } = await share();
    const who = visitor();
    await bring(who, secret);
    await store.write((tx) => tx.remove("session", session, session));
    expect(await store.rows("share")).toEqual([]);
    expect(await granted(who)).toEqual([]);
    expect(await knock(who)).toMatchObject(admitted("viewer"));
    expect(await bring(visitor(), secret)).toMatchObject(refused("enrolment_invalid"));
  });

  test("refuses an id that is taken, in whatever session", async () => {
    const { share, shares, store } = await setUp();
    const { shareId } = await share();
    for (const sessionId of [session, other]) {
      const again = store.write((tx) => shares.create(tx, { sessionId, shareId, days: 1 }, null));
      const wrong = { wire: { code: "bad_params", details: { field: "shareId" } } };
      await expect(again).rejects.toMatchObject(wrong);
    }
  });
});

describe("a share whose time is up", () => {
  test("[H9] goes by itself with its grants, and the others stay", async () => {
    const { share, bring, visitor, granted, clock, store } = await setUp();
    const [day, year, open] = [
      await share(session, 1),
      await share(other, SHARE_MAX_DAYS),
      await share(),
    ];
    const [a, b] = [visitor(), visitor()];
    await bring(a, day.secret);
    await bring(a, year.secret);
    await bring(b, open.secret);
    await clock.advance(DAY_MS - 1);
    expect(await granted(a)).toEqual([session, other]);
    await clock.advance(1);
    await store.write(async () => {});
    expect(await granted(a)).toEqual([other]);
    expect(await granted(b)).toEqual([session]);
    const left = (await store.rows("share")).map(({ id }) => id);
    expect(left).toEqual([year.shareId, open.shareId]);
  });

  test("[H9] lets nobody in from that moment, whether or not it was removed", async () => {
    const { share, shares, bring, visitor, store, clock } = await setUp();
    const { secret } = await share(session, 1);
    await clock.advance(DAY_MS - 1);
    expect(await bring(visitor(), secret)).toMatchObject(admitted("viewer"));
    let letGo = () => {};
    const busy = store.write(() => new Promise<void>((resolve) => (letGo = resolve)));
    await clock.advance(1);
    const coming = bring(visitor(), secret);
    expect(await store.rows("share")).toHaveLength(1);
    expect(await shares.open(store, secret, visitor().id)).toEqual({ kind: "unknown" });
    letGo();
    await busy;
    expect(await coming).toMatchObject(refused("enrolment_invalid"));
  });

  test("[H9] goes at the daemon's start, before anyone can come", async () => {
    const { share, bring, visitor, granted, store, clock, shares } = await setUp();
    const { secret } = await share(session, 30);
    const later = await share(session, 31);
    const who = visitor();
    await bring(who, secret);
    shares.dispose();
    expect(clock.pending).toBe(0);
    await clock.advance(30 * DAY_MS);
    const restarted = new Shares({ store, clock, log: silentLog });
    await restarted.start();
    expect(await granted(who)).toEqual([]);
    expect((await store.rows("share")).map(({ id }) => id)).toEqual([later.shareId]);
    await clock.advance(DAY_MS);
    await store.write(async () => {});
    expect(await store.rows("share")).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("[H9] no timer is longer than a timer can be, and the clock may jump meanwhile", async () => {
    const { share, shares, clock, store } = await setUp();
    const waits: number[] = [];
    let jumped = 0;
    let ring = () => {};
    const watched = new Shares({
      store,
      log: silentLog,
      clock: {
        now: () => clock.now() + jumped,
        after(ms, task) {
          waits.push(ms);
          ring = task;
          return () => {};
        },
      },
    });
    shares.dispose();
    await share(session, SHARE_MAX_DAYS);
    await watched.start();
    expect(waits).toEqual([EXPIRY_CHECK_MS]);
    ring();
    expect(waits).toEqual([EXPIRY_CHECK_MS, EXPIRY_CHECK_MS]);
    jumped = SHARE_MAX_DAYS * DAY_MS;
    ring();
    await store.write(async () => {});
    expect(await store.rows("share")).toEqual([]);
  });

  test("[H9] is tried again later when the disk would not have it, and the log says so", async () => {
    const { share, shares, clock, store, logged } = await setUp();
    shares.dispose();
    await share(session, 1);
    const log = { ...silentLog, error: (...entry: [LogFields, string]) => logged.push(entry) };
    let isFull = true;
    const write: typeof store.write = (work) =>
      isFull ? Promise.reject(new Error("disk full")) : store.write(work);
    const watched = new Shares({ store: { write }, clock, log });
    await clock.advance(DAY_MS);
    await watched.start();
    expect(logged).toHaveLength(1);
    await expect(watched.removeDue()).rejects.toThrow("disk full");
    await clock.advance(EXPIRY_CHECK_MS - 1);
    expect(logged).toHaveLength(1);
    await clock.advance(1);
    expect(logged).toHaveLength(2);
    isFull = false;
    await clock.advance(EXPIRY_CHECK_MS);
    await store.write(async () => {});
    expect(await store.rows("share")).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});
