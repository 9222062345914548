// A client that keeps the rules of the feed and complains when the daemon breaks them: a replica that
// outlives connections, and the text it paints from live events.

import type { DeviceId, SessionId } from "../../shared/ids.ts";
import type { Part, WatchPosition } from "../../shared/protocol/live-events.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import type { AcceptConnection, Peer } from "../transport/connection.ts";
import { type LinkedConnection, linkConnection } from "./linked-connection.ts";

type PageMessage = Extract<DaemonMessage, { type: "page" }>;
type LiveMessage = Extract<DaemonMessage, { type: "live" }>;

export interface FeedClient {
  /** The rows held, tombstones left out, in rev order. */
  rows(): Change[];
  readonly cursor: number;
  readonly resyncs: number;
  readonly link: LinkedConnection;
  connect(): LinkedConnection;
  /** Puts back what a backup held. */
  restore(backup: Backup): void;
  backup(): Backup;
  watch(sessionId: SessionId): void;
  /** What stands on the screen for a part of a turn. */
  painted(sessionId: SessionId, turnId: number, part: Part): string;
  /** Chunks received, whatever became of them. */
  readonly chunks: LiveMessage[];
}

export interface Backup {
  readonly rows: ReadonlyMap<string, Change>;
  readonly epoch: string | null;
  readonly cursor: number;
  readonly token: string | null;
}

const keyOf = ({ kind, sessionId, id }: Change) => `${kind} ${sessionId ?? ""} ${id}`;

export function makeFeedClient(accept: AcceptConnection, device: DeviceId): FeedClient {
  const peer: Peer = { kind: "device", deviceId: device, role: "owner" };
  const chunks: LiveMessage[] = [];
  let state: Backup = { rows: new Map(), epoch: null, cursor: 0, token: null };
  let resyncs = 0;
  let link: LinkedConnection | null = null;
  let painted = new Map<string, string>();

  const current = () => {
    if (link === null) throw new Error("The client was never connected");
    return link;
  };
  const isHeld = (sessionId: SessionId, turnId: number) =>
    state.rows.get(`turn ${sessionId} ${turnId}`)?.row != null;

  /** F2: rows and cursor move together, then the ack. */
  const apply = (page: PageMessage) => {
    const rows = new Map(state.rows);
    let rev = state.cursor;
    for (const change of page.changes) {
      if (change.rev <= rev) throw new Error(`rev ${change.rev} came after ${rev}`);
      rev = change.rev;
      if (change.kind === "session" && change.row === null) {
        for (const [key, row] of rows) if (row.sessionId === change.sessionId) rows.delete(key);
      }
      rows.set(keyOf(change), change);
      if (change.kind === "turn" && change.row !== null && change.row.state !== "streaming") {
        painted.set(`${change.sessionId} ${change.id} answer`, change.row.answer.head);
      }
    }
    if (page.upto < rev) throw new Error(`a page up to ${page.upto} holds rev ${rev}`);
    state = { ...state, rows, cursor: page.upto, token: page.token };
    current().say({ type: "ack", cursor: page.upto, token: page.token });
  };

  const paint = (message: LiveMessage) => {
    const { event, sessionId } = message;
    if (event.type !== "turn.chunk") return;
    chunks.push(message);
    if (!isHeld(sessionId, event.turnId)) {
      throw new Error(`F6: a chunk of turn ${event.turnId} came before its row`);
    }
    const key = `${sessionId} ${event.turnId} ${event.part}`;
    const text = painted.get(key) ?? "";
    if (event.offset > text.length) {
      throw new Error(`a hole from ${text.length} to ${event.offset} in ${key}`);
    }
    painted.set(key, text.slice(0, event.offset) + event.text);
  };

  const hear = (message: DaemonMessage) => {
    if (message.type === "page") apply(message);
    else if (message.type === "live") paint(message);
    else if (message.type === "welcome") {
      if (message.resync) {
        resyncs += 1;
        painted = new Map();
        state = { rows: new Map(), epoch: message.epoch, cursor: 0, token: null };
      }
      state = { ...state, epoch: message.epoch };
    }
  };

  return {
    rows: () =>
      [...state.rows.values()].filter(({ row }) => row !== null).sort((a, b) => a.rev - b.rev),
    get cursor() {
      return state.cursor;
    },
    get resyncs() {
      return resyncs;
    },
    get link() {
      return current();
    },
    connect() {
      const fresh = linkConnection(accept, peer, hear);
      link = fresh;
      const { epoch, cursor, token } = state;
      fresh.say({ type: "hello", epoch, cursor, token, scope: { kind: "everything" } });
      return fresh;
    },
    restore(backup) {
      state = backup;
      painted = new Map();
    },
    backup: () => state,
    watch(sessionId) {
      let at: WatchPosition | null = null;
      for (const [key, text] of painted) {
        const [of = "", turn = "", part = ""] = key.split(" ");
        const turnId = Number(turn);
        if (of !== sessionId || (at !== null && at.turnId > turnId)) continue;
        if (at === null || at.turnId < turnId) at = { turnId, offsets: {} };
        at.offsets[part] = text.length;
      }
      current().say({ type: "watch", sessionId, at });
    },
    painted: (sessionId, turnId, part) => painted.get(`${sessionId} ${turnId} ${part}`) ?? "",
    chunks,
  };
}
