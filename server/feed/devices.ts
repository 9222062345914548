// The enrolled devices: who is let in, how one is enrolled, renamed and revoked.

import { createHash } from "node:crypto";
import { type DeviceId, toBase64Url, toFingerprint } from "../../shared/ids.ts";
import { type ErrorCode, Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { Admission, Introduction } from "../../shared/protocol/handshake.ts";
import { type DeviceRow, deviceIdSchema } from "../../shared/protocol/rows.ts";
import { PROTOCOL_VERSION } from "../../shared/protocol/version.ts";
import type { Clock } from "../clock.ts";
import { type ReadTx, type Store, StoreError, type WriteTx } from "../store/store.ts";
import { type LaunchToken, LaunchTokens } from "./launch-tokens.ts";
import { removeGrantsOf, SHARE_VIEWERS_MAX, type Shares } from "./shares.ts";

/** `lastSeenAt` is for people: writing it more often would only wake the other devices. */
const LAST_SEEN_STEP_MS = 60_000;
const DEVICE_ID_BYTES = 16;
const NAME_MAX_CHARS = 100;
const NAMELESS = "Unnamed device";

export interface DevicesOptions {
  readonly store: Pick<Store, "row" | "rows" | "rowsById" | "write">;
  readonly shares: Shares;
  readonly clock: Clock;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Closes the live connections of a device, after telling them why. */
  readonly onRevoked: (deviceId: DeviceId, error: WireError) => void;
  /** Closes what the device has open from when it was a viewer: it comes again as an owner. */
  readonly onPromoted: (deviceId: DeviceId) => void;
}

export interface Devices {
  /** The transport's `Admit`. Rejects only if the store does, for another reason than a full disk. */
  admit(publicKey: Uint8Array, introduction: Introduction): Promise<Admission>;
  makeLaunchToken(): LaunchToken;
  /** Throws `Failure` device_gone. */
  renameDevice(tx: WriteTx, deviceId: DeviceId, name: string): Promise<void>;
  /** Throws `Failure` device_gone. Call `afterRevoke` once the transaction is durable. */
  revokeDevice(tx: WriteTx, deviceId: DeviceId): Promise<void>;
  afterRevoke(deviceId: DeviceId): void;
}

export function createDevices(options: DevicesOptions): Devices {
  const { store, shares, clock, onRevoked } = options;
  const tokens = new LaunchTokens(clock, options.randomBytes);

  const decide: Devices["admit"] = async (publicKey, introduction) => {
    const deviceId = deviceIdOf(publicKey);
    const { enrolment } = introduction;
    // Spent before anything is awaited: of two that bring one secret, one is let in. Spent by a
    // known device too: a link that has been opened is used up.
    const isInvited = enrolment?.kind === "launch" && tokens.spend(enrolment.secret);
    const row = await readDevice(store, deviceId);
    if (row !== null && row.publicKey !== toBase64Url(publicKey)) return refuse("not_enrolled");
    const isIn = row !== null && row.revokedAt === null;
    if (isInvited && !(isIn && row.role === "owner")) {
      return enrolOwner(options, publicKey, introduction.deviceName);
    }
    if (isIn && row.role === "owner") return readmit(store, clock, deviceId, row);
    await shares.removeDue();
    if (enrolment?.kind === "share") {
      return enrolViewer(options, publicKey, introduction.deviceName, enrolment.secret);
    }
    if (isIn) return readmit(store, clock, deviceId, row);
    if (enrolment?.kind === "launch") return refuse("enrolment_invalid");
    return refuse(row === null ? "not_enrolled" : "device_revoked");
  };

  return {
    async admit(publicKey, introduction) {
      try {
        return await decide(publicKey, introduction);
      } catch (error) {
        if (isUnwritable(error)) return refuse("disk_failed");
        throw error;
      }
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
      await removeGrantsOf(tx, deviceId);
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
  try {
    const { value } = await store.write(async (tx) => {
      const current = await readDevice(tx, deviceId);
      if (current === null || current.revokedAt !== null) return null;
      await tx.put("device", null, deviceId, { ...current, lastSeenAt: clock.now() });
      return current;
    });
    return value === null ? refuse("device_revoked") : admitted(deviceId, value);
  } catch (error) {
    // Nothing was revoked since either, and to read takes no room.
    if (isUnwritable(error)) return admitted(deviceId, row);
    throw error;
  }
}

const isUnwritable = (error: unknown): boolean =>
  error instanceof StoreError && error.code === "not_writable";

/** A revoked device that was handed a new link is welcome again: who printed it owns the machine. */
async function enrolOwner(
  { store, clock, onPromoted }: DevicesOptions,
  publicKey: Uint8Array,
  deviceName: string,
): Promise<Admission> {
  const deviceId = deviceIdOf(publicKey);
  const { value } = await store.write(async (tx) => {
    const known = await readDevice(tx, deviceId);
    const fresh = freshRow(publicKey, deviceName, clock.now());
    const { name, createdAt } = known ?? fresh;
    const row: DeviceRow = { ...fresh, name, createdAt, role: "owner" };
    await tx.put("device", null, deviceId, row);
    await removeGrantsOf(tx, deviceId);
    return { row, isPromoted: known !== null && known.role !== "owner" };
  });
  if (value.isPromoted) onPromoted(deviceId);
  return admitted(deviceId, value.row);
}

/** A stranger becomes a viewer of the share's session; a viewer sees one session more. */
async function enrolViewer(
  { store, shares, clock }: DevicesOptions,
  publicKey: Uint8Array,
  deviceName: string,
  secret: string,
): Promise<Admission> {
  const deviceId = deviceIdOf(publicKey);
  // A stranger that guesses does not get to hold up those who write.
  const seen = await shares.open(store, secret, deviceId);
  if (seen.kind !== "open") return refuseShare(seen.kind);
  const { value } = await store.write(async (tx) => {
    const known = await readDevice(tx, deviceId);
    // Whoever revoked a device meant it: a link that many may hold does not undo that.
    if (known !== null && known.revokedAt !== null) return refuse("device_revoked");
    if (known?.role === "owner") return admitted(deviceId, known);
    const opened = await shares.open(tx, secret, deviceId);
    if (opened.kind !== "open") return refuseShare(opened.kind);
    const now = clock.now();
    const isRecent = known !== null && now - known.lastSeenAt < LAST_SEEN_STEP_MS;
    const row: DeviceRow = known ?? freshRow(publicKey, deviceName, now);
    await tx.put("device", null, deviceId, isRecent ? row : { ...row, lastSeenAt: now });
    await shares.grant(tx, opened, deviceId);
    return admitted(deviceId, row);
  });
  return value;
}

function freshRow(publicKey: Uint8Array, deviceName: string, now: number): DeviceRow {
  return {
    name: tidyName(deviceName),
    role: "viewer",
    publicKey: toBase64Url(publicKey),
    fingerprint: toFingerprint(hashOf(publicKey)),
    createdAt: now,
    lastSeenAt: now,
    revokedAt: null,
  };
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
  disk_failed:
    "The daemon could not write to its database to let this browser in: the disk is full or not writable. Make room and try again.",
  device_revoked:
    "This browser's access was revoked. Run `troupe link` on the daemon's machine to let it in again.",
} as const satisfies Partial<Record<ErrorCode, string>>;

const SHARE_REFUSALS = {
  unknown: {
    code: "enrolment_invalid",
    message:
      "This link was taken back, or its time is up. Ask whoever sent it to you for a fresh one.",
    retryable: false,
    details: { kind: "share" },
  },
  full: {
    code: "share_full",
    message: `${SHARE_VIEWERS_MAX} browsers opened this link, and it lets no more in. Ask whoever sent it to you for a fresh one.`,
    retryable: false,
    details: { limit: SHARE_VIEWERS_MAX },
  },
} as const satisfies Record<string, WireError>;

function errorOf(code: keyof typeof MESSAGES): WireError {
  return { code, message: MESSAGES[code], retryable: code === "disk_failed" };
}

function refuse(code: keyof typeof MESSAGES): Admission {
  return { outcome: "refused", error: errorOf(code) };
}

function refuseShare(kind: keyof typeof SHARE_REFUSALS): Admission {
  return { outcome: "refused", error: SHARE_REFUSALS[kind] };
}
