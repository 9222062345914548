// The rows this page holds, as a Solid store fed by the one reducer. Nothing else writes them.

import { batch } from "solid-js";
import { createStore, produce } from "solid-js/store";
import { assertNever } from "../../shared/assert-never.ts";
import { applyChanges, type PresentChange, type RowTarget } from "../../shared/feed/apply-page.ts";
import type { SessionId } from "../../shared/ids.ts";
import type { BODY_KINDS, Change, RowByKind, RowKind } from "../../shared/protocol/rows.ts";

/**
 * Session and device rows by id; the others by session, then by row id: shares and grants of every session,
 * bodies of open sessions only.
 */
export interface Rows {
  session: Record<string, RowByKind["session"]>;
  device: Record<string, RowByKind["device"]>;
  share: Record<string, Record<string, RowByKind["share"]>>;
  grant: Record<string, Record<string, RowByKind["grant"]>>;
  request: Record<string, Record<string, RowByKind["request"]>>;
  turn: Record<string, Record<string, RowByKind["turn"]>>;
  toolResult: Record<string, Record<string, RowByKind["toolResult"]>>;
}

export interface RowStore {
  readonly rows: Rows;
  /**
   * `reset`: forget every row held before. Bodies of sessions that are among the changes stay on screen until
   * `settle`: they are about to be given again, most likely as they were.
   */
  apply(changes: readonly Change[], reset: boolean): void;
  /** All bodies of an open session have been given: drops those that a reset should have taken. */
  settle(sessionId: SessionId): void;
  /** Drops what only an open session has. Its own row stays: the rail shows it. */
  close(sessionId: SessionId): void;
}

const emptyRows = (): Rows => ({
  session: {},
  device: {},
  share: {},
  grant: {},
  request: {},
  turn: {},
  toolResult: {},
});

type BodyKind = (typeof BODY_KINDS)[number];

/** By hand: the list itself would bring every schema into the page. */
const BODIES: readonly BodyKind[] = ["request", "turn", "toolResult"];

const isBody = (kind: RowKind): kind is BodyKind => BODIES.some((body) => body === kind);

/** Revs of the rows held. Plain: only the reducer asks for them. */
function makeRevs() {
  const shared = new Map<string, number>();
  const bySession = new Map<string, Map<string, number>>();
  const tombstones = new Map<string, number>();
  const key = (kind: RowKind, sessionId: SessionId | null, id: string) =>
    `${kind} ${sessionId} ${id}`;
  const mapFor = (kind: RowKind, sessionId: SessionId | null) => {
    if (sessionId === null || !isBody(kind)) return shared;
    const known = bySession.get(sessionId) ?? new Map<string, number>();
    bySession.set(sessionId, known);
    return known;
  };
  return {
    of(kind: RowKind, sessionId: SessionId | null, id: string): number {
      const deleted = sessionId === null ? 0 : (tombstones.get(sessionId) ?? 0);
      return Math.max(deleted, mapFor(kind, sessionId).get(key(kind, sessionId, id)) ?? 0);
    },
    note(kind: RowKind, sessionId: SessionId | null, id: string, rev: number) {
      mapFor(kind, sessionId).set(key(kind, sessionId, id), rev);
      // A session shared again after it was not: its bodies may be older than that.
      if (kind === "session" && sessionId !== null) tombstones.delete(sessionId);
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

function dropParts(held: Rows, sessionId: string): void {
  for (const kind of BODIES) delete held[kind][sessionId];
}

/** Bodies of sessions that are gone. */
function dropOrphans(held: Rows): void {
  for (const kind of BODIES) {
    for (const sessionId of Object.keys(held[kind])) {
      if (!held.session[sessionId]) dropParts(held, sessionId);
    }
  }
}

/** One entry of a record of records. */
function putIn<T>(bySession: Record<string, Record<string, T>>, at: Change, row: T): void {
  const sessionId = String(at.sessionId);
  bySession[sessionId] ??= {};
  Object.assign(bySession[sessionId] ?? {}, { [at.id]: row });
}

function putRow(held: Rows, change: PresentChange): void {
  switch (change.kind) {
    case "session":
      held.session[change.sessionId] = change.row;
      return;
    case "device":
      held.device[change.id] = change.row;
      return;
    case "share":
      putIn(held.share, change, change.row);
      return;
    case "grant":
      putIn(held.grant, change, change.row);
      return;
    case "request":
      putIn(held.request, change, change.row);
      return;
    case "turn":
      putIn(held.turn, change, change.row);
      return;
    case "toolResult":
      putIn(held.toolResult, change, change.row);
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
        delete held.share[sessionId];
        delete held.grant[sessionId];
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
          const { session, device, share, grant } = emptyRows();
          change((held) => Object.assign(held, { session, device, share, grant }));
          revs.clear();
        }
        applyChanges(target, changes);
        if (reset) change(dropOrphans);
      });
    },
    settle(sessionId) {
      change((held) => {
        for (const kind of BODIES) {
          for (const id of Object.keys(held[kind][sessionId] ?? {})) {
            // Whatever was given since the last reset has a rev.
            if (revs.of(kind, sessionId, id) === 0) removeRow(held, kind, sessionId, id);
          }
        }
      });
    },
    close(sessionId) {
      change((held) => dropParts(held, sessionId));
      revs.forgetSession(sessionId);
    },
  };
}
