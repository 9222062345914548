// Links by which devices become viewers of one session: made, taken back, opened, and removed with all
// that was granted by them once their time is up. A link's secret is never stored, only its hash.

import { createHash } from "node:crypto";
import { type DeviceId, type SessionId, toBase64Url } from "../../shared/ids.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { ShareRow } from "../../shared/protocol/rows.ts";
import type { Clock } from "../clock.ts";
import { type Log, traceOf } from "../log.ts";
import type { ReadTx, Store, WriteTx } from "../store/store.ts";

/** Devices that one share lets see its session. */
export const SHARE_VIEWERS_MAX = 64;
const SHARE_ID_BYTES = 16;
const DAY_MS = 24 * 60 * 60_000;
/**
 * The longest wait before the clock is looked at again: a timer stands still while the machine sleeps,
 * and none reaches as far as a year.
 */
export const EXPIRY_CHECK_MS = 60_000;

export interface SharesOptions {
  readonly store: Pick<Store, "write">;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a link's secret leads to. `full`: the share has SHARE_VIEWERS_MAX viewers already. */
export type OpenedShare =
  | { kind: "open"; sessionId: SessionId; shareId: string }
  | { kind: "unknown" }
  | { kind: "full" };

export class Shares {
  readonly #options: SharesOptions;
  /** When the next share expires, as far as is known; null: none does. Until `start`, now. */
  #nextExpiry: number | null = 0;
  #cancelTimer: (() => void) | null = null;
  #isDisposed = false;

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** Throws `Failure` session_gone, or bad_params for the id of a share that is there already. */
  async create(
    tx: WriteTx,
    { sessionId, shareId, days }: { sessionId: SessionId; shareId: string; days: number | null },
    createdBy: DeviceId | null,
  ): Promise<void> {
    await requireSession(tx, sessionId);
    if ((await tx.rowsById("share", shareId)).length > 0) {
      throw new Failure("bad_params", "There is a share with this id already. Make a new secret.", {
        details: { field: "shareId" },
      });
    }
    const createdAt = this.#options.clock.now();
    const expiresAt = days === null ? null : createdAt + days * DAY_MS;
    await tx.put("share", sessionId, shareId, { createdAt, createdBy, expiresAt });
    this.#expectExpiry(expiresAt);
  }

  /** Takes what was granted by it along. Throws `Failure` session_gone or share_gone. */
  async revoke(tx: WriteTx, sessionId: SessionId, shareId: string): Promise<void> {
    await requireSession(tx, sessionId);
    if ((await tx.row("share", sessionId, shareId)) === null) {
      throw new Failure("share_gone", "This link was taken back already, or its time was up.", {
        details: { shareId },
      });
    }
    await removeShare(tx, sessionId, shareId);
  }

  async open(
    tx: Pick<ReadTx, "rows" | "rowsById">,
    secret: string,
    deviceId: DeviceId,
  ): Promise<OpenedShare> {
    const shareId = shareIdOf(secret);
    const [share] = await tx.rowsById("share", shareId);
    if (share === undefined || share.sessionId === null) return { kind: "unknown" };
    if (isExpired(share.row, this.#options.clock.now())) return { kind: "unknown" };
    const { sessionId } = share;
    const grants = await tx.rows("grant", sessionId);
    const viewers = grants.filter(({ id, row }) => row.shareId === shareId && id !== deviceId);
    if (viewers.length >= SHARE_VIEWERS_MAX) return { kind: "full" };
    return { kind: "open", sessionId, shareId };
  }

  /** Of two links to one session the one opened last counts. */
  async grant(
    tx: WriteTx,
    { sessionId, shareId }: { sessionId: SessionId; shareId: string },
    deviceId: DeviceId,
  ): Promise<void> {
    const held = await tx.row("grant", sessionId, deviceId);
    if (held?.row.shareId === shareId) return;
    const createdAt = this.#options.clock.now();
    await tx.put("grant", sessionId, deviceId, { shareId, createdAt });
  }

  /** What time is up for goes before anything else is decided. Does nothing while nothing is due. */
  async removeDue(): Promise<void> {
    const { clock } = this.#options;
    if (this.#nextExpiry !== null && this.#nextExpiry <= clock.now()) await this.#removeExpired();
  }

  /**
   * Call once, before anyone is let in; from then on it happens when due. A store that would not have it
   * keeps out viewers, by `removeDue`, and nobody else; it is tried again a while later.
   */
  async start(): Promise<void> {
    try {
      await this.#removeExpired();
    } catch (error) {
      const { log } = this.#options;
      log.error({ trace: traceOf(error) }, "shares whose time is up could not be removed");
    }
  }

  async #removeExpired(): Promise<void> {
    const { clock, store } = this.#options;
    this.#nextExpiry = null;
    this.#cancelTimer?.();
    try {
      await store.write(async (tx) => {
        const now = clock.now();
        for (const { sessionId, id, row } of await tx.rows("share")) {
          if (sessionId === null) continue;
          if (isExpired(row, now)) await removeShare(tx, sessionId, id);
          else this.#expectExpiry(row.expiresAt);
        }
      });
    } catch (error) {
      this.#nextExpiry = clock.now();
      this.#lookIn(EXPIRY_CHECK_MS);
      throw error;
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#cancelTimer?.();
  }

  #expectExpiry(at: number | null): void {
    if (at === null || (this.#nextExpiry !== null && this.#nextExpiry <= at)) return;
    this.#nextExpiry = at;
    this.#lookIn(at - this.#options.clock.now());
  }

  #lookIn(ms: number): void {
    this.#cancelTimer?.();
    if (this.#isDisposed) return;
    const { clock } = this.#options;
    this.#cancelTimer = clock.after(Math.min(ms, EXPIRY_CHECK_MS), () => {
      const left = (this.#nextExpiry ?? Infinity) - clock.now();
      if (left > 0) this.#lookIn(left);
      else void this.start();
    });
  }
}

/** The first 16 bytes of the SHA-256 of the secret's characters, in base64url. */
export function shareIdOf(secret: string): string {
  const hash = createHash("sha256").update(secret).digest();
  return toBase64Url(hash.subarray(0, SHARE_ID_BYTES));
}

/** The device sees no session by a share any more. */
export async function removeGrantsOf(tx: WriteTx, deviceId: DeviceId): Promise<void> {
  for (const { sessionId, id } of await tx.rowsById("grant", deviceId)) {
    await tx.remove("grant", sessionId, id);
  }
}

async function removeShare(tx: WriteTx, sessionId: SessionId, shareId: string): Promise<void> {
  await tx.remove("share", sessionId, shareId);
  for (const { id, row } of await tx.rows("grant", sessionId)) {
    if (row.shareId === shareId) await tx.remove("grant", sessionId, id);
  }
}

async function requireSession(tx: ReadTx, sessionId: SessionId): Promise<void> {
  if ((await tx.row("session", sessionId, sessionId)) !== null) return;
  throw new Failure("session_gone", "There is no such session, or it was deleted.", {
    details: { sessionId },
  });
}

const isExpired = ({ expiresAt }: ShareRow, now: number): boolean =>
  expiresAt !== null && expiresAt <= now;
