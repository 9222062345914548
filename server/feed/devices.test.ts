import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { DeviceId } from "../../shared/ids.ts";
import { LAUNCH_TOKEN_LIFETIME_MS } from "../../shared/limits.ts";
import type { Introduction } from "../../shared/protocol/handshake.ts";
import { makeFullDisk } from "../testing/full-disk.ts";
import { makeKeys } from "../testing/socket-client.ts";
import { openTemporaryStore, silentLog } from "../testing/temporary-store.ts";
import { createDevices, deviceIdOf } from "./devices.ts";
import { LAUNCH_TOKENS_MAX } from "./launch-tokens.ts";
import { Shares } from "./shares.ts";

async function setUp() {
  const { store: opened, clock } = await openTemporaryStore();
  const disk = makeFullDisk(opened);
  const { store } = disk;
  const revoked: DeviceId[] = [];
  const devices = createDevices({
    store,
    shares: new Shares({ store, clock, log: silentLog }),
    clock,
    randomBytes,
    onRevoked: (deviceId) => revoked.push(deviceId),
    onPromoted: (deviceId) => {
      throw new Error(`${deviceId} was no viewer`);
    },
  });
  const keys = makeKeys();
  const deviceId = deviceIdOf(keys.publicKey);
  const introduce = (secret: string | null, deviceName = "Firefox on Linux"): Introduction => ({
    versions: [1],
    appVersion: "1.0.0",
    deviceName,
    enrolment: secret === null ? null : { kind: "launch", secret },
  });
  const knock = (secret: string | null = null, publicKey = keys.publicKey) =>
    devices.admit(publicKey, introduce(secret));
  const revoke = () => store.write((tx) => devices.revokeDevice(tx, deviceId));
  const row = async () => (await store.row("device", null, deviceId))?.row;
  return { store, disk, clock, devices, keys, deviceId, introduce, knock, revoke, row, revoked };
}

const refused = (code: string) => ({ outcome: "refused", error: { code, retryable: false } });

describe("devices", () => {
  it("[H5] refuses a stranger without a secret, and writes nothing", async () => {
    const { knock, store } = await setUp();
    expect(await knock()).toMatchObject(refused("not_enrolled"));
    expect(store.head).toBe(0);
  });

  it("[H5] enrols a stranger that brings a launch token, as owner", async () => {
    const { knock, devices, deviceId, row, clock } = await setUp();
    const { secret, expiresAt } = devices.makeLaunchToken();
    expect(secret).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(expiresAt).toBe(clock.now() + LAUNCH_TOKEN_LIFETIME_MS);
    expect(await knock(secret)).toEqual({
      outcome: "admitted",
      version: 1,
      deviceId,
      role: "owner",
    });
    expect(await row()).toMatchObject({
      name: "Firefox on Linux",
      role: "owner",
      createdAt: clock.now(),
      lastSeenAt: clock.now(),
      revokedAt: null,
    });
    expect(await knock()).toMatchObject({ outcome: "admitted", deviceId });
  });

  it("lets in whom it knows when the disk is full, and says of others why it cannot", async () => {
    const { knock, devices, clock, disk, deviceId, revoke } = await setUp();
    await knock(devices.makeLaunchToken().secret);
    await clock.advance(3_600_000);
    disk.isFull = true;
    expect(await knock()).toMatchObject({ outcome: "admitted", deviceId });
    const stranger = makeKeys().publicKey;
    expect(await knock(devices.makeLaunchToken().secret, stranger)).toMatchObject({
      outcome: "refused",
      error: { code: "disk_failed", retryable: true },
    });
    disk.isFull = false;
    await revoke();
    disk.isFull = true;
    expect(await knock()).toMatchObject({ outcome: "refused" });
  });

  it("takes a launch token once", async () => {
    const { knock, devices } = await setUp();
    const { secret } = devices.makeLaunchToken();
    await knock(secret);
    expect(await knock(secret, makeKeys().publicKey)).toMatchObject(refused("enrolment_invalid"));
  });

  it("lets in exactly one of those who bring one token at once", async () => {
    const { knock, devices, store } = await setUp();
    const { secret } = devices.makeLaunchToken();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => knock(secret, makeKeys().publicKey)),
    );
    expect(answers.filter(({ outcome }) => outcome === "admitted")).toHaveLength(1);
    expect(await store.rows("device")).toHaveLength(1);
  });

  it("uses a token up when a known device opens its link", async () => {
    const { knock, devices } = await setUp();
    await knock(devices.makeLaunchToken().secret);
    const { secret } = devices.makeLaunchToken();
    expect(await knock(secret)).toMatchObject({ outcome: "admitted" });
    expect(await knock(secret, makeKeys().publicKey)).toMatchObject(refused("enrolment_invalid"));
    expect(await knock("wrong")).toMatchObject({ outcome: "admitted" });
  });

  it("refuses a bad token and one that is too old", async () => {
    const { knock, devices, clock } = await setUp();
    for (const secret of ["", "wrong", "A".repeat(22)]) {
      expect(await knock(secret)).toMatchObject(refused("enrolment_invalid"));
    }
    const { secret } = devices.makeLaunchToken();
    await clock.advance(LAUNCH_TOKEN_LIFETIME_MS);
    expect(await knock(secret)).toMatchObject(refused("enrolment_invalid"));
  });

  it("keeps a bounded number of tokens, the latest", async () => {
    const { knock, devices } = await setUp();
    const secrets = Array.from(
      { length: LAUNCH_TOKENS_MAX + 1 },
      () => devices.makeLaunchToken().secret,
    );
    const [first = "", second = ""] = secrets;
    expect(await knock(first)).toMatchObject(refused("enrolment_invalid"));
    expect(await knock(second)).toMatchObject({ outcome: "admitted" });
  });

  it("notes when a device was last seen, at most once a minute", async () => {
    const { knock, devices, store, clock, row } = await setUp();
    await knock(devices.makeLaunchToken().secret);
    const { head } = store;
    await clock.advance(59_999);
    await knock();
    expect(store.head).toBe(head);
    await clock.advance(1);
    await knock();
    expect(store.head).toBe(head + 1);
    expect((await row())?.lastSeenAt).toBe(clock.now());
  });

  it("is renamed in one line without characters that hide or turn others", async () => {
    const { knock, devices, store, deviceId, row } = await setUp();
    await knock(devices.makeLaunchToken().secret);
    await store.write((tx) => devices.renameDevice(tx, deviceId, "\u202eMy\0\n desk "));
    expect((await row())?.name).toBe("My desk");
  });

  it("refuses a revoked device until it brings a new token, and keeps its name", async () => {
    const { knock, devices, store, deviceId, revoke, row, clock, revoked } = await setUp();
    await knock(devices.makeLaunchToken().secret);
    await store.write((tx) => devices.renameDevice(tx, deviceId, "Desk"));
    await clock.advance(120_000);
    await revoke();
    devices.afterRevoke(deviceId);
    expect(revoked).toEqual([deviceId]);
    expect(await row()).toMatchObject({ revokedAt: clock.now(), name: "Desk" });
    expect(await knock()).toMatchObject(refused("device_revoked"));
    expect(await knock("wrong")).toMatchObject(refused("enrolment_invalid"));
    const { secret } = devices.makeLaunchToken();
    expect(await knock(secret)).toMatchObject({ outcome: "admitted" });
    expect(await row()).toMatchObject({ revokedAt: null, name: "Desk" });
  });

  it("writes a second revocation nowhere", async () => {
    const { knock, devices, store, revoke } = await setUp();
    await knock(devices.makeLaunchToken().secret);
    await revoke();
    const { head } = store;
    await revoke();
    expect(store.head).toBe(head);
  });

  it("says device_gone for one that never was", async () => {
    const { devices, store, deviceId, revoke } = await setUp();
    const gone = { wire: { code: "device_gone" } };
    await expect(revoke()).rejects.toMatchObject(gone);
    const renaming = store.write((tx) => devices.renameDevice(tx, deviceId, "x"));
    await expect(renaming).rejects.toMatchObject(gone);
  });

  it("tidies the name a device gives itself", async () => {
    const { devices, introduce, store } = await setUp();
    const nameOf = async (given: string) => {
      const { publicKey } = makeKeys();
      await devices.admit(publicKey, introduce(devices.makeLaunchToken().secret, given));
      return (await store.row("device", null, deviceIdOf(publicKey)))?.row.name;
    };
    expect(await nameOf("  Chrome\u0000\n\u202e on\tMac ")).toBe("Chrome on Mac");
    expect(await nameOf("\u200b ")).toBe("Unnamed device");
    expect(await nameOf("🖥".repeat(100))).toBe("🖥".repeat(100));
    expect(await nameOf("x".repeat(200))).toBe("x".repeat(100));
  });
});
