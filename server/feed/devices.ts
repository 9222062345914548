// The enrolled devices: who is let in, how one is enrolled, renamed and revoked.

import { createHash } from "node:crypto";
import { type DeviceId, toBase64Url, toFingerprint } from "../../shared/ids.ts";
import { type ErrorCode, Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { Admission, Introduction } from "../../shared/protocol/handshake.ts";
import { type DeviceRow, deviceIdSchema } from "../../shared/protocol/rows.ts";
import { PROTOCOL_VERSION } from "../../shared/protocol/version.ts";
import type { Clock } from "../clock.ts";
import type { ReadTx, Store, WriteTx } from "../store/store.ts";
import { type LaunchToken, LaunchTokens } from "./launch-tokens.ts";

/** `lastSeenAt` is for people: writing it more often would only wake the other devices. */
const LAST_SEEN_STEP_MS = 60_000;
const DEVICE_ID_BYTES = 16;
const NAME_MAX_CHARS = 100;
const NAMELESS = "Unnamed device";

export interface DevicesOptions {
  readonly store: Pick<Store, "row" | "write">;
  readonly clock: Clock;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Closes the live connections of a device, after telling them why. */
  readonly onRevoked: (deviceId: DeviceId, error: WireError) => void;
}

export interface Devices {
  /** The transport's `Admit`. Rejects only if the store does. */
  admit(publicKey: Uint8Array, introduction: Introduction): Promise<Admission>;
  makeLaunchToken(): LaunchToken;
  /** Throws `Failure` device_gone. */
  renameDevice(tx: WriteTx, deviceId: DeviceId, name: string): Promise<void>;
  /** Throws `Failure` device_gone. Call `afterRevoke` once the transaction is durable. */
  revokeDevice(tx: WriteTx, deviceId: DeviceId): Promise<void>;
  afterRevoke(deviceId: DeviceId): void;
}

export function createDevices(options: DevicesOptions): Devices {
  const { store, clock, onRevoked } = options;
  const tokens = new LaunchTokens(clock, options.randomBytes);

  return {
    async admit(publicKey, introduction) {
      const deviceId = deviceIdOf(publicKey);
      const { enrolment } = introduction;
      // Spent before anything is awaited: of two that bring one secret, one is let in. Spent by a
      // known device too: a link that has been opened is used up.
      const isInvited = enrolment !== null && tokens.spend(enrolment.secret);
      const row = await readDevice(store, deviceId);
      if (row !== null && row.publicKey !== toBase64Url(publicKey)) return refuse("not_enrolled");
      if (row !== null && row.revokedAt === null) return readmit(store, clock, deviceId, row);
      if (isInvited) return enrol(store, clock, publicKey, introduction.deviceName);
      if (enrolment !== null) return refuse("enrolment_invalid");
      return refuse(row === null ? "not_enrolled" : "device_revoked");
    },

    makeLaunchToken: () => tokens.make(),

    async renameDevice(tx, deviceId, name) {
      const row = await requireDevice(tx, deviceId);
      await tx.put("device", null, deviceId, { ...row, name: tidyName(name) });
    },

    async revokeDevice(tx, deviceId) {
      const row = await requireDevice(tx, deviceId);
      if (row.revokedAt !== null) return;
      await tx.put("device", null, deviceId, { ...row, revokedAt: clock.now() });
    },

    afterRevoke: (deviceId) => onRevoked(deviceId, errorOf("device_revoked")),
  };
}

export function deviceIdOf(publicKey: Uint8Array): DeviceId {
  return deviceIdSchema.parse(toBase64Url(hashOf(publicKey).subarray(0, DEVICE_ID_BYTES)));
}

async function readmit(
  store: DevicesOptions["store"],
  clock: Clock,
  deviceId: DeviceId,
  row: DeviceRow,
): Promise<Admission> {
  if (clock.now() - row.lastSeenAt < LAST_SEEN_STEP_MS) return admitted(deviceId, row);
  const { value } = await store.write(async (tx) => {
    const current = await readDevice(tx, deviceId);
    if (current === null || current.revokedAt !== null) return null;
    await tx.put("device", null, deviceId, { ...current, lastSeenAt: clock.now() });
    return current;
  });
  return value === null ? refuse("device_revoked") : admitted(deviceId, value);
}

/** A revoked device that was handed a new link is welcome again: who printed it owns the machine. */
async function enrol(
  store: DevicesOptions["store"],
  clock: Clock,
  publicKey: Uint8Array,
  deviceName: string,
): Promise<Admission> {
  const deviceId = deviceIdOf(publicKey);
  const now = clock.now();
  const { value } = await store.write(async (tx) => {
    const known = await readDevice(tx, deviceId);
    const row: DeviceRow = {
      name: known?.name ?? tidyName(deviceName),
      role: "owner",
      publicKey: toBase64Url(publicKey),
      fingerprint: toFingerprint(hashOf(publicKey)),
      createdAt: known?.createdAt ?? now,
      lastSeenAt: now,
      revokedAt: null,
    };
    await tx.put("device", null, deviceId, row);
    return row;
  });
  return admitted(deviceId, value);
}

async function readDevice(
  store: Pick<ReadTx, "row">,
  deviceId: DeviceId,
): Promise<DeviceRow | null> {
  return (await store.row("device", null, deviceId))?.row ?? null;
}

async function requireDevice(tx: ReadTx, deviceId: DeviceId): Promise<DeviceRow> {
  const row = await readDevice(tx, deviceId);
  if (row !== null) return row;
  throw new Failure("device_gone", `There is no device ${deviceId}.`, { details: { deviceId } });
}

/** One line, of a length that fits a list. */
function tidyName(name: string): string {
  const line = name.replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return [...line].slice(0, NAME_MAX_CHARS).join("") || NAMELESS;
}

function hashOf(publicKey: Uint8Array): Buffer {
  return createHash("sha256").update(publicKey).digest();
}

function admitted(deviceId: DeviceId, { role }: DeviceRow): Admission {
  return { outcome: "admitted", version: PROTOCOL_VERSION, deviceId, role };
}

const MESSAGES = {
  not_enrolled:
    "This browser is not enrolled here. Run `troupe link` on the daemon's machine and open the link.",
  enrolment_invalid:
    "This launch link is used up or too old. Run `troupe link` on the daemon's machine for a fresh one.",
  device_revoked:
    "This browser's access was revoked. Run `troupe link` on the daemon's machine to let it in again.",
} as const satisfies Partial<Record<ErrorCode, string>>;

function errorOf(code: keyof typeof MESSAGES): WireError {
  return { code, message: MESSAGES[code], retryable: false };
}

function refuse(code: keyof typeof MESSAGES): Admission {
  return { outcome: "refused", error: errorOf(code) };
}
