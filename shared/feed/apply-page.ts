// The one reducer of the change feed: the replica on disk, the page's stores and the tests apply
// changes through it. Where rows are kept is the target's affair; which change counts is decided here.

import type { SessionId } from "../ids.ts";
import type { Change, RowByKind, RowKind } from "../protocol/rows.ts";

type ChangeOf<K extends RowKind> = Extract<Change, { kind: K }>;

/** A change that carries a row, discriminated by `kind`. */
export type PresentChange = {
  [K in RowKind]: ChangeOf<K> & { readonly row: RowByKind[K] };
}[RowKind];

export interface RowTarget {
  /** The newest rev known of this row, tombstones (its session's too) included; 0 if there is none. */
  knownRev(kind: RowKind, sessionId: SessionId | null, id: string): number;
  put(change: PresentChange): void;
  /** A row's tombstone; the row may never have been seen. */
  remove(kind: RowKind, sessionId: SessionId | null, id: string, rev: number): void;
  /** A session's tombstone: the session row and every row of that session go. */
  removeSession(sessionId: SessionId, rev: number): void;
}

export const isPresent = (change: Change): change is PresentChange => change.row !== null;

/** Applies changes in rev order. Applying them again, or older ones late, changes nothing (F2). */
export function applyChanges(target: RowTarget, changes: readonly Change[]): void {
  for (const change of changes) {
    const { kind, sessionId, id, rev } = change;
    if (rev <= target.knownRev(kind, sessionId, id)) continue;
    if (isPresent(change)) target.put(change);
    else if (kind === "session") target.removeSession(sessionId, rev);
    else target.remove(kind, sessionId, id, rev);
  }
}
