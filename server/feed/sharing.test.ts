// Shares, enrolment, presence and feed together, over linked connections.

import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { DeviceId, SessionId } from "../../shared/ids.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import { type LinkedConnection, linkConnection } from "../testing/linked-connection.ts";
import { sampleRequest, sampleSession, sampleSessionId } from "../testing/sample-rows.ts";
import { makeKeys } from "../testing/socket-client.ts";
import { openTemporaryStore, silentLog } from "../testing/temporary-store.ts";
import { createDevices } from "./devices.ts";
import { createHub } from "./hub.ts";
import { Shares, shareIdOf } from "./shares.ts";

const STEP_MS = 250;
const session = sampleSessionId("session-a");
const other = sampleSessionId("session-b");
const SECRET = "the secret of a link";

type Enrolment = { kind: "launch" | "share"; secret: string };
type Page = Extract<DaemonMessage, { type: "page" }>;

async function setUp() {
  const { store, clock } = await openTemporaryStore();
  const shares = new Shares({ store, clock, log: silentLog });
  const hub = createHub({
    store,
    clock,
    dispatch: async () => ({}),
    daemon: { name: "test", version: "1" },
    log: silentLog,
  });
  const devices = createDevices({
    store,
    shares,
    clock,
    randomBytes,
    onRevoked: hub.closeDevice,
    onPromoted: hub.closeDevice,
  });
  await store.write(async (tx) => {
    for (const id of [session, other]) {
      await tx.put("session", id, id, sampleSession({ title: id }));
      await tx.put("request", id, "request-a-------", sampleRequest());
    }
    await shares.create(tx, { sessionId: session, shareId: shareIdOf(SECRET), days: null }, null);
  });

  /** A browser that is let in and says hello from where it stands. */
  const browser = () => {
    const { publicKey } = makeKeys();
    let at: { cursor: number; token: string | null } = { cursor: 0, token: null };
    const hear = (message: DaemonMessage) => {
      if (message.type === "page") at = { cursor: message.upto, token: message.token };
    };
    return async (enrolment: Enrolment | null = null) => {
      const introduction = { versions: [1], appVersion: "1", deviceName: "A browser", enrolment };
      const admission = await devices.admit(publicKey, introduction);
      if (admission.outcome === "refused") throw new Error(admission.error.code);
      const { deviceId, role } = admission;
      const link = linkConnection(hub.accept, { kind: "device", deviceId, role }, hear);
      const epoch = at.token === null ? null : store.epoch;
      const scope = { days: null, except: [] };
      link.say({ type: "hello", epoch, ...at, scope, packings: [] });
      return Object.assign(link, { deviceId, role });
    };
  };
  const owner = () => browser()({ kind: "launch", secret: devices.makeLaunchToken().secret });
  const viewer = () => browser()({ kind: "share", secret: SECRET });
  const revoke = () => store.write((tx) => shares.revoke(tx, session, shareIdOf(SECRET)));
  /** Until nothing moves any more. */
  const settled = () => clock.advance(STEP_MS);
  await settled();
  return { store, clock, shares, hub, devices, browser, owner, viewer, revoke, settled };
}

const ofType = <T extends DaemonMessage["type"]>(
  { received }: Pick<LinkedConnection, "received">,
  type: T,
) =>
  received.filter(
    (message): message is Extract<DaemonMessage, { type: T }> => message.type === type,
  );
const lookersTold = (link: Pick<LinkedConnection, "received">, of: SessionId = session) =>
  ofType(link, "live").flatMap(({ sessionId, event }) =>
    sessionId === of && event.type === "session.lookers" ? [event.deviceIds] : [],
  );
const rowsOf = (pages: readonly Page[]) =>
  pages.flatMap(({ changes }) => changes.map(({ kind, id, row }) => [kind, id, row !== null]));
const watch = (sessionId: SessionId) => ({ type: "watch", sessionId, at: null }) as const;
const look = (...sessionIds: SessionId[]) => ({ type: "look", sessionIds }) as const;

describe("a device that comes by a share", () => {
  test("[F9] holds its own row and the session, until the link is taken back", async () => {
    const { viewer, revoke, settled } = await setUp();
    const link = await viewer();
    await settled();
    expect(ofType(link, "welcome")).toMatchObject([{ role: "viewer", deviceId: link.deviceId }]);
    const pages = ofType(link, "page");
    expect(rowsOf(pages)).toEqual([
      ["device", link.deviceId, true],
      ["session", session, true],
    ]);
    expect(pages.flatMap(({ leftOut }) => leftOut)).toEqual([session]);
    await revoke();
    await settled();
    expect(rowsOf(ofType(link, "page")).slice(2)).toEqual([["session", session, false]]);
    expect(link.isClosed).toBe(false);
  });

  test("[H6] starts over as an owner when it opens a launch link; what it had open ends", async () => {
    const { store, browser, devices, settled } = await setUp();
    const come = browser();
    const before = await come({ kind: "share", secret: SECRET });
    await settled();
    const secret = devices.makeLaunchToken().secret;
    const after = await come({ kind: "launch", secret });
    await settled();
    expect(before.isClosed).toBe(true);
    expect(ofType(after, "welcome")).toMatchObject([{ role: "owner", resync: true }]);
    const rows = rowsOf(ofType(after, "page")).map(([kind, id]) => `${kind} ${id}`);
    expect(rows).toContain(`session ${other}`);
    expect(rows).toContain("request request-a-------");
    expect(await store.rowsById("grant", after.deviceId)).toEqual([]);
  });
});

describe("presence over connections", () => {
  test("[P1] tells an owner who else looks, and stops when that connection ends", async () => {
    const { owner, settled } = await setUp();
    const [desk, phone] = [await owner(), await owner()];
    desk.say(watch(session));
    desk.say(look(session));
    await settled();
    phone.say(look(session, other));
    await settled();
    expect(lookersTold(desk)).toEqual([[], [phone.deviceId]]);
    phone.say(watch(session));
    await settled();
    expect(lookersTold(phone)).toEqual([[desk.deviceId]]);
    phone.cut();
    await settled();
    expect(lookersTold(desk)).toEqual([[], [phone.deviceId], []]);
    expect(lookersTold(desk, other)).toEqual([]);
  });

  test("[P1] says it as soon as it watches, to one that comes after", async () => {
    const { owner, browser, devices, settled } = await setUp();
    const desk = await owner();
    desk.say(look(session));
    await settled();
    const phone = await browser()({ kind: "launch", secret: devices.makeLaunchToken().secret });
    phone.say(watch(session));
    await settled();
    expect(lookersTold(phone)).toEqual([[desk.deviceId]]);
  });

  test("[F9] shows a viewer at its session only, until it loses it, and tells it nothing", async () => {
    const { owner, viewer, revoke, settled } = await setUp();
    const [desk, tablet] = [await owner(), await viewer()];
    for (const id of [session, other]) desk.say(watch(id));
    tablet.say(watch(session));
    tablet.say(look(session, other));
    desk.say(look(session));
    await settled();
    expect(lookersTold(desk)).toEqual([[], [tablet.deviceId]]);
    expect(lookersTold(desk, other)).toEqual([[]]);
    await revoke();
    await settled();
    await settled();
    expect(lookersTold(desk)).toEqual([[], [tablet.deviceId], []]);
    tablet.say(look(session));
    await settled();
    expect(lookersTold(desk)).toHaveLength(3);
    expect(lookersTold(tablet)).toEqual([]);
  });

  test("[P1] still shows a viewer that opened a second link to the session", async () => {
    const { store, owner, browser, settled, shares } = await setUp();
    const second = { sessionId: session, shareId: shareIdOf("another secret"), days: null };
    await store.write((tx) => shares.create(tx, second, null));
    const desk = await owner();
    desk.say(watch(session));
    const come = browser();
    const tablet = await come({ kind: "share", secret: SECRET });
    await settled();
    tablet.say(look(session));
    await settled();
    await come({ kind: "share", secret: "another secret" });
    await settled();
    expect(lookersTold(desk)).toEqual([[], [tablet.deviceId]]);
  });

  test("[F6] names a device after its row", async () => {
    const { owner, settled } = await setUp();
    const desk = await owner();
    desk.say(watch(session));
    await settled();
    const [phone] = [await owner()];
    phone.say(look(session));
    await settled();
    await settled();
    const at = (of: (message: DaemonMessage) => boolean) => desk.received.findIndex(of);
    const row = at(
      (message) =>
        message.type === "page" && message.changes.some(({ id }) => id === phone.deviceId),
    );
    const named = at((message) => namesLooker(message, phone.deviceId));
    expect(row).toBeGreaterThan(-1);
    expect(named).toBeGreaterThan(row);
  });

  test("[P2] a device that flaps costs a slow reader no more than the last state", async () => {
    const { owner, settled } = await setUp();
    const [desk, phone] = [await owner(), await owner()];
    desk.say(watch(session));
    await settled();
    desk.stall();
    const before = desk.queuedBytes;
    for (let i = 0; i < 500; i += 1) {
      phone.say(look(session));
      phone.say(look());
    }
    phone.say(look(session));
    await settled();
    expect(desk.queuedBytes - before).toBeLessThan(1_000);
    desk.resume();
    await settled();
    expect(lookersTold(desk).at(-1)).toEqual([phone.deviceId]);
  });
});

const namesLooker = (message: DaemonMessage, deviceId: DeviceId): boolean =>
  message.type === "live" &&
  message.event.type === "session.lookers" &&
  message.event.deviceIds.includes(deviceId);
