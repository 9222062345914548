// Which sessions' bodies this browser should fetch next, and which should leave when room runs low. Times
// are the daemon's: this device's clock may say anything.

import type { SessionId } from "../../shared/ids.ts";
import type { Change } from "../../shared/protocol/rows.ts";

const DAY_MS = 24 * 60 * 60_000;
/** Of what the browser would give, at most this share is filled with sessions. */
const BUDGET_SHARE = 0.6;
/** Above this share of the budget nothing is fetched that nobody asked for. */
const SPARE_SHARE = 0.8;
/** Of the sessions that may leave, this part leaves at once. */
const LEAVING_SHARE = 1 / 16;

/** What the browser says of its storage, in bytes. */
export interface StorageEstimate {
  readonly usage: number;
  readonly quota: number;
}

export const budgetOf = ({ quota }: StorageEstimate): number => Math.floor(quota * BUDGET_SHARE);
export const isOverBudget = (estimate: StorageEstimate): boolean =>
  estimate.usage > budgetOf(estimate);
/** `bytes`: for so much more. */
export const hasSpareRoom = (estimate: StorageEstimate, bytes = 0): boolean =>
  estimate.usage + bytes < budgetOf(estimate) * SPARE_SHARE;

export interface KnownSession {
  readonly id: SessionId;
  readonly pinned: boolean;
  readonly modifiedAt: number;
}

export interface Known {
  /** Last modified first. */
  readonly sessions: readonly KnownSession[];
  /** The latest time of the daemon that a row names. */
  readonly heardAt: number;
}

export function knownFrom(rail: readonly Change[]): Known {
  const sessions: KnownSession[] = [];
  let heardAt = 0;
  for (const { kind, sessionId, row } of rail) {
    if (row === null) continue;
    if (kind === "session") {
      const { pinned, modifiedAt } = row;
      sessions.push({ id: sessionId, pinned, modifiedAt });
      heardAt = Math.max(heardAt, modifiedAt);
    } else if (kind === "device") heardAt = Math.max(heardAt, row.lastSeenAt);
  }
  sessions.sort((a, b) => b.modifiedAt - a.modifiedAt);
  return { sessions, heardAt };
}

export interface FetchTerms {
  readonly leftOut: ReadonlySet<SessionId>;
  readonly days: number | null;
  readonly hasSpareRoom: boolean;
  /** `modifiedAt` of sessions that found no room: only a change makes them worth another try. */
  readonly gaveUp: ReadonlyMap<SessionId, number>;
}

/** The session to fetch while nobody waits for one; `isSpare`: nothing else is to leave for it. */
export function nextToFetch(
  { sessions, heardAt }: Known,
  { leftOut, days, hasSpareRoom, gaveUp }: FetchTerms,
): { id: SessionId; isSpare: boolean } | null {
  const wanted = sessions.filter(
    ({ id, modifiedAt }) => leftOut.has(id) && gaveUp.get(id) !== modifiedAt,
  );
  const pinned = wanted.find((session) => session.pinned);
  if (pinned !== undefined) return { id: pinned.id, isSpare: false };
  const since = days === null ? 0 : heardAt - days * DAY_MS;
  const spare = hasSpareRoom ? wanted.find(({ modifiedAt }) => modifiedAt >= since) : undefined;
  return spare === undefined ? null : { id: spare.id, isSpare: true };
}

/** The few that leave first: never pinned ones or those in use, oldest first. */
export function nextToLeave(
  { sessions }: Known,
  leftOut: ReadonlySet<SessionId>,
  isInUse: (sessionId: SessionId) => boolean,
): KnownSession[] {
  const mayLeave = sessions.filter(({ id, pinned }) => !pinned && !leftOut.has(id) && !isInUse(id));
  const count = Math.ceil(mayLeave.length * LEAVING_SHARE);
  return mayLeave.slice(mayLeave.length - count).reverse();
}
