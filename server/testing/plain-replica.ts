// What a device holds, as a value: rows, the position they belong to, and the sessions it lacks the
// bodies of. Pages and fills go in through the real reducer.

import { applyChanges, type RowTarget } from "../../shared/feed/apply-page.ts";
import type { SessionId } from "../../shared/ids.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import { type Change, isBodyKind, type RowKind } from "../../shared/protocol/rows.ts";

type Page = Extract<DaemonMessage, { type: "page" }>;
type Fill = Extract<DaemonMessage, { type: "fill" }>;
type Welcome = Extract<DaemonMessage, { type: "welcome" }>;

export interface Replica {
  /** With tombstones. */
  readonly rows: ReadonlyMap<string, Change>;
  readonly leftOut: ReadonlySet<SessionId>;
  readonly epoch: string | null;
  readonly cursor: number;
  readonly token: string | null;
}

export const EMPTY_REPLICA: Replica = {
  rows: new Map(),
  leftOut: new Set(),
  epoch: null,
  cursor: 0,
  token: null,
};

const keyOf = (kind: RowKind, sessionId: SessionId | null, id: string) =>
  `${kind} ${sessionId ?? ""} ${id}`;

export function restarted(replica: Replica, { epoch, resync, leftOut }: Welcome): Replica {
  const kept = resync ? EMPTY_REPLICA : replica;
  const rows = new Map(kept.rows);
  for (const sessionId of leftOut) dropBodies(rows, sessionId);
  return { ...kept, rows, epoch, leftOut: new Set([...kept.leftOut, ...leftOut]) };
}

export function withLeftOut(replica: Replica, sessionId: SessionId): Replica {
  const rows = new Map(replica.rows);
  dropBodies(rows, sessionId);
  return { ...replica, rows, leftOut: new Set([...replica.leftOut, sessionId]) };
}

/** `filling`: sessions whose bodies in pages count though they are left out. */
export function withPage(
  replica: Replica,
  { changes, upto, token, leftOut }: Page,
  filling: ReadonlySet<SessionId>,
): Replica {
  checkOrder(changes, replica.cursor, upto);
  const rows = new Map(replica.rows);
  const isIgnored = ({ kind, sessionId }: Change) =>
    isBodyKind(kind) &&
    sessionId !== null &&
    replica.leftOut.has(sessionId) &&
    !filling.has(sessionId);
  applyChanges(
    targetOf(rows),
    changes.filter((change) => !isIgnored(change)),
  );
  const lacking = new Set(replica.leftOut);
  for (const { kind, sessionId, row } of changes) {
    if (kind === "session" && row === null) lacking.delete(sessionId);
  }
  for (const sessionId of leftOut) {
    dropBodies(rows, sessionId);
    lacking.add(sessionId);
  }
  return { ...replica, rows, leftOut: lacking, cursor: upto, token };
}

export function withFill(replica: Replica, fill: Fill): Replica {
  const { sessionId, changes, cursor, isFirst, isLast } = fill;
  if (cursor !== replica.cursor) {
    throw new Error(`a fill for rev ${cursor} came at rev ${replica.cursor}`);
  }
  checkOrder(changes, 0, cursor);
  const rows = new Map(replica.rows);
  if (isFirst) dropBodies(rows, sessionId);
  for (const { kind, sessionId: of, row } of changes) {
    if (of !== sessionId || !isBodyKind(kind) || row === null) {
      throw new Error(`a ${kind} of ${of} in the fill of ${sessionId}`);
    }
  }
  applyChanges(targetOf(rows), changes);
  const leftOut = new Set(replica.leftOut);
  if (isLast) leftOut.delete(sessionId);
  return { ...replica, rows, leftOut };
}

function checkOrder(changes: readonly Change[], after: number, upto: number): void {
  let rev = after;
  for (const change of changes) {
    if (change.rev <= rev) throw new Error(`rev ${change.rev} came after ${rev}`);
    rev = change.rev;
  }
  if (upto < rev) throw new Error(`rev ${rev} came in what goes up to ${upto}`);
}

function dropBodies(rows: Map<string, Change>, sessionId: SessionId): void {
  for (const [key, row] of rows) {
    if (row.sessionId === sessionId && isBodyKind(row.kind)) rows.delete(key);
  }
}

function targetOf(rows: Map<string, Change>): RowTarget {
  const revAt = (key: string) => rows.get(key)?.rev ?? 0;
  return {
    knownRev(kind, sessionId, id) {
      const session =
        sessionId === null ? undefined : rows.get(keyOf("session", sessionId, sessionId));
      const buried = session?.row === null ? session.rev : 0;
      return Math.max(buried, revAt(keyOf(kind, sessionId, id)));
    },
    put: (change) => rows.set(keyOf(change.kind, change.sessionId, change.id), change),
    remove: (kind, sessionId, id) => rows.delete(keyOf(kind, sessionId, id)),
    removeSession(sessionId, rev) {
      for (const [key, row] of rows) if (row.sessionId === sessionId) rows.delete(key);
      const id = sessionId;
      rows.set(keyOf("session", sessionId, id), { kind: "session", sessionId, id, rev, row: null });
    },
  };
}
