// The rows this page holds, as a Solid store fed by the one reducer. Nothing else writes them.

import { batch } from "solid-js";
import { createStore, produce } from "solid-js/store";
import { assertNever } from "../../shared/assert-never.ts";
import { applyChanges, type PresentChange, type RowTarget } from "../../shared/feed/apply-page.ts";
import type { SessionId } from "../../shared/ids.ts";
import type { Change, RowByKind, RowKind } from "../../shared/protocol/rows.ts";

/** Session and device rows by id; the others by session, then by row id, of open sessions only. */
export interface Rows {
  session: Record<string, RowByKind["session"]>;
  device: Record<string, RowByKind["device"]>;
  request: Record<string, Record<string, RowByKind["request"]>>;
  turn: Record<string, Record<string, RowByKind["turn"]>>;
  toolResult: Record<string, Record<string, RowByKind["toolResult"]>>;
}

export interface RowStore {
  readonly rows: Rows;
  /** `reset`: forget every row held before. */
  apply(changes: readonly Change[], reset: boolean): void;
  /** Drops what only an open session has. Its own row stays: the rail shows it. */
  close(sessionId: SessionId): void;
}

const emptyRows = (): Rows => ({ session: {}, device: {}, request: {}, turn: {}, toolResult: {} });

/** Revs of the rows held. Plain: only the reducer asks for them. */
function makeRevs() {
  const shared = new Map<string, number>();
  const bySession = new Map<string, Map<string, number>>();
  const tombstones = new Map<string, number>();
  const key = (kind: RowKind, id: string) => `${kind} ${id}`;
  const isShared = (kind: RowKind) => kind === "session" || kind === "device";
  const mapFor = (kind: RowKind, sessionId: SessionId | null) => {
    if (sessionId === null || isShared(kind)) return shared;
    const known = bySession.get(sessionId) ?? new Map<string, number>();
    bySession.set(sessionId, known);
    return known;
  };
  return {
    of(kind: RowKind, sessionId: SessionId | null, id: string): number {
      const deleted = sessionId === null ? 0 : (tombstones.get(sessionId) ?? 0);
      return Math.max(deleted, mapFor(kind, sessionId).get(key(kind, id)) ?? 0);
    },
    note(kind: RowKind, sessionId: SessionId | null, id: string, rev: number) {
      mapFor(kind, sessionId).set(key(kind, id), rev);
    },
    noteDeleted(sessionId: SessionId, rev: number) {
      tombstones.set(sessionId, rev);
      bySession.delete(sessionId);
    },
    forgetSession: (sessionId: SessionId) => bySession.delete(sessionId),
    clear() {
      shared.clear();
      bySession.clear();
      tombstones.clear();
    },
  };
}

function dropParts(held: Rows, sessionId: SessionId): void {
  delete held.request[sessionId];
  delete held.turn[sessionId];
  delete held.toolResult[sessionId];
}

function putRow(held: Rows, change: PresentChange): void {
  switch (change.kind) {
    case "session":
      held.session[change.sessionId] = change.row;
      return;
    case "device":
      held.device[change.id] = change.row;
      return;
    case "request":
      held.request[change.sessionId] ??= {};
      Object.assign(held.request[change.sessionId] ?? {}, { [change.id]: change.row });
      return;
    case "turn":
      held.turn[change.sessionId] ??= {};
      Object.assign(held.turn[change.sessionId] ?? {}, { [change.id]: change.row });
      return;
    case "toolResult":
      held.toolResult[change.sessionId] ??= {};
      Object.assign(held.toolResult[change.sessionId] ?? {}, { [change.id]: change.row });
      return;
    default:
      assertNever(change);
  }
}

function removeRow(held: Rows, kind: RowKind, sessionId: SessionId | null, id: string): void {
  if (kind === "session" || kind === "device") delete held[kind][id];
  else if (sessionId !== null) delete held[kind][sessionId]?.[id];
}

export function createRowStore(): RowStore {
  const [rows, setRows] = createStore<Rows>(emptyRows());
  const revs = makeRevs();
  const change = (work: (held: Rows) => void) => setRows(produce(work));

  const target: RowTarget = {
    knownRev: (kind, sessionId, id) => revs.of(kind, sessionId, id),
    put(present) {
      change((held) => putRow(held, present));
      revs.note(present.kind, present.sessionId, present.id, present.rev);
    },
    remove(kind, sessionId, id, rev) {
      change((held) => removeRow(held, kind, sessionId, id));
      revs.note(kind, sessionId, id, rev);
    },
    removeSession(sessionId, rev) {
      change((held) => {
        delete held.session[sessionId];
        dropParts(held, sessionId);
      });
      revs.noteDeleted(sessionId, rev);
    },
  };

  return {
    rows,
    apply(changes, reset) {
      batch(() => {
        if (reset) {
          change((held) => Object.assign(held, emptyRows()));
          revs.clear();
        }
        applyChanges(target, changes);
      });
    },
    close(sessionId) {
      change((held) => dropParts(held, sessionId));
      revs.forgetSession(sessionId);
    },
  };
}
