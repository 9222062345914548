// Devices and transport together, over real sockets.

import { randomBytes } from "node:crypto";
import { expect, it } from "vitest";
import { CLOSE_CODES } from "../../shared/protocol/close-codes.ts";
import { runTransport } from "../testing/running-transport.ts";
import { sampleSession, sampleSessionId } from "../testing/sample-rows.ts";
import { connectClient, makeKeys } from "../testing/socket-client.ts";
import { openTemporaryStore, silentLog } from "../testing/temporary-store.ts";
import { createDevices, deviceIdOf } from "./devices.ts";
import { Shares, shareIdOf } from "./shares.ts";

async function setUp() {
  const { store, clock } = await openTemporaryStore();
  const shares = new Shares({ store, clock, log: silentLog });
  const devices = createDevices({
    store,
    shares,
    clock,
    randomBytes,
    onRevoked: (deviceId, error) => running.transport.closeDevice(deviceId, error),
    onPromoted: () => {},
  });
  const running = await runTransport({ admit: devices.admit });
  return { store, shares, devices, ...running };
}

const enrolment = (secret: string) => ({ enrolment: { kind: "launch" as const, secret } });

it("enrols over XX with the launch token, then knows the device over IK", async () => {
  const { devices, transport } = await setUp();
  const { origin, identity } = transport;
  const keys = makeKeys();
  const stranger = await connectClient(origin, { keys });
  expect(stranger.admission).toMatchObject({ error: { code: "not_enrolled" } });
  const wrong = await connectClient(origin, { keys, introduction: enrolment("wrong") });
  expect(wrong.admission).toMatchObject({ error: { code: "enrolment_invalid" } });
  const introduction = enrolment(devices.makeLaunchToken().secret);
  const invited = await connectClient(origin, { keys, introduction });
  expect(invited.admission).toMatchObject({ outcome: "admitted", role: "owner" });
  const daemonKey = Buffer.from(identity.publicKey, "base64url");
  const again = await connectClient(origin, { keys, daemonKey });
  expect(again.admission).toEqual(invited.admission);
});

it("does not answer a client that pinned another daemon's key", async () => {
  const { transport } = await setUp();
  const connecting = connectClient(transport.origin, { daemonKey: makeKeys().publicKey });
  await expect(connecting).rejects.toThrow(`closed ${CLOSE_CODES.handshakeFailed}`);
});

it("cuts a device that is revoked while connected, and lets it in no more", async () => {
  const { devices, transport, store } = await setUp();
  const keys = makeKeys();
  const introduction = enrolment(devices.makeLaunchToken().secret);
  const client = await connectClient(transport.origin, { keys, introduction });
  const deviceId = deviceIdOf(keys.publicKey);
  await store.write((tx) => devices.revokeDevice(tx, deviceId));
  devices.afterRevoke(deviceId);
  expect(await client.next()).toMatchObject({ error: { code: "device_revoked" } });
  expect((await client.frames.closed).code).toBe(CLOSE_CODES.revoked);
  const again = await connectClient(transport.origin, { keys });
  expect(again.admission).toMatchObject({ error: { code: "device_revoked" } });
});

it("[H7] enrols over XX with a share's secret as a viewer, then knows the device over IK", async () => {
  const { shares, store, transport } = await setUp();
  const { origin, identity } = transport;
  const sessionId = sampleSessionId("session-a");
  const secret = "the secret of a link";
  await store.write(async (tx) => {
    await tx.put("session", sessionId, sessionId, sampleSession());
    await shares.create(tx, { sessionId, shareId: shareIdOf(secret), days: 1 }, null);
  });
  const bringing = (brought: string) => ({
    enrolment: { kind: "share" as const, secret: brought },
  });
  const keys = makeKeys();
  const wrong = await connectClient(origin, { keys, introduction: bringing("wrong") });
  expect(wrong.admission).toMatchObject({ error: { code: "enrolment_invalid" } });
  const invited = await connectClient(origin, { keys, introduction: bringing(secret) });
  expect(invited.admission).toMatchObject({ outcome: "admitted", role: "viewer" });
  const daemonKey = Buffer.from(identity.publicKey, "base64url");
  const again = await connectClient(origin, { keys, daemonKey });
  expect(again.admission).toEqual(invited.admission);
});
