// A client that keeps the rules of the feed and complains when the daemon breaks them: a replica that
// outlives connections, what it leaves out of it, and the text it paints from live events.

import type { DeviceId, SessionId } from "../../shared/ids.ts";
import type { Part, WatchPosition } from "../../shared/protocol/live-events.ts";
import type { DaemonMessage, Scope } from "../../shared/protocol/messages.ts";
import type { Change, DeviceRow } from "../../shared/protocol/rows.ts";
import type { AcceptConnection, Peer } from "../transport/connection.ts";
import { type LinkedConnection, linkConnection } from "./linked-connection.ts";
import {
  EMPTY_REPLICA,
  type Replica,
  restarted,
  withFill,
  withLeftOut,
  withPage,
} from "./plain-replica.ts";

type LiveMessage = Extract<DaemonMessage, { type: "live" }>;

export interface FeedClient {
  /** The rows held, tombstones left out, in rev order. */
  rows(): Change[];
  readonly cursor: number;
  readonly resyncs: number;
  /** Sessions whose bodies it lacks. */
  readonly leftOut: ReadonlySet<SessionId>;
  /** Sessions it was told to keep. */
  readonly wanted: ReadonlySet<SessionId>;
  readonly link: LinkedConnection;
  connect(): LinkedConnection;
  /** Puts back what a backup held. */
  restore(backup: Replica): void;
  backup(): Replica;
  watch(sessionId: SessionId): void;
  /** Wants the session's bodies, now and at each welcome, until `leave`. */
  keep(sessionId: SessionId): void;
  leave(sessionId: SessionId): void;
  /** What stands on the screen for a part of a turn. */
  painted(sessionId: SessionId, turnId: number, part: Part): string;
  /** Chunks received, whatever became of them. */
  readonly chunks: LiveMessage[];
}

export interface FeedClientOptions {
  readonly role?: DeviceRow["role"];
  readonly days?: number;
  readonly packings?: readonly string[];
}

export function makeFeedClient(
  accept: AcceptConnection,
  device: DeviceId,
  { role = "owner", days, packings = [] }: FeedClientOptions = {},
): FeedClient {
  const peer: Peer = { kind: "device", deviceId: device, role };
  const chunks: LiveMessage[] = [];
  const wanted = new Set<SessionId>();
  /** Sessions left on this connection, and the daemon has not said so yet: parts before that are void. */
  let leaving = new Set<SessionId>();
  /** Sessions asked for on this connection, whose last part has not come. */
  let asked = new Set<SessionId>();
  /** Of those, the ones whose first part has come. */
  let filling = new Set<SessionId>();
  let state: Replica = EMPTY_REPLICA;
  let resyncs = 0;
  let link: LinkedConnection | null = null;
  let painted = new Map<string, string>();

  const current = () => {
    if (link === null) throw new Error("The client was never connected");
    return link;
  };
  const forgetText = (sessionId: SessionId) => {
    for (const key of painted.keys()) if (key.startsWith(`${sessionId} `)) painted.delete(key);
  };
  const ask = (sessionId: SessionId) => {
    if (link === null) return;
    asked.add(sessionId);
    filling.delete(sessionId);
    link.say({ type: "keep", sessionId });
  };
  const becameLeftOut = (sessionIds: readonly SessionId[]) => {
    for (const sessionId of sessionIds) {
      asked.delete(sessionId);
      filling.delete(sessionId);
      forgetText(sessionId);
    }
    for (const sessionId of sessionIds) if (wanted.has(sessionId)) ask(sessionId);
  };

  const heardPage = (page: Extract<DaemonMessage, { type: "page" }>) => {
    state = withPage(state, page, filling);
    for (const change of page.changes) {
      if (change.kind === "session" && change.row === null) forgetText(change.sessionId);
      if (change.kind === "turn" && change.row !== null && change.row.state !== "streaming") {
        painted.set(`${change.sessionId} ${change.id} answer`, change.row.answer.head);
      }
    }
    current().say({ type: "ack", cursor: page.upto, token: page.token });
    becameLeftOut(page.leftOut.filter((sessionId) => !leaving.delete(sessionId)));
  };

  const heardFill = (fill: Extract<DaemonMessage, { type: "fill" }>) => {
    if (!asked.has(fill.sessionId) || leaving.has(fill.sessionId)) return;
    if (fill.isFirst) {
      filling.add(fill.sessionId);
      forgetText(fill.sessionId);
    } else if (!filling.has(fill.sessionId)) throw new Error("a fill that has no beginning");
    state = withFill(state, fill);
    if (!fill.isLast) return;
    asked.delete(fill.sessionId);
    filling.delete(fill.sessionId);
  };

  const paint = (message: LiveMessage) => {
    const { event, sessionId } = message;
    const isHeld = (key: string) => state.rows.get(key)?.row != null;
    if (role !== "owner" && !isHeld(`session ${sessionId} ${sessionId}`)) {
      throw new Error(`F6: a live event of ${sessionId} came before its row`);
    }
    if (event.type !== "turn.chunk") return;
    // On its way when the session was left: the row that it refers to is gone here.
    if (leaving.has(sessionId)) return;
    chunks.push(message);
    if (!isHeld(`turn ${sessionId} ${event.turnId}`)) {
      throw new Error(`F6: a chunk of turn ${event.turnId} came before its row`);
    }
    const key = `${sessionId} ${event.turnId} ${event.part}`;
    const text = painted.get(key) ?? "";
    if (event.offset > text.length) {
      throw new Error(`a hole from ${text.length} to ${event.offset} in ${key}`);
    }
    painted.set(key, text.slice(0, event.offset) + event.text);
  };

  const heardWelcome = (welcome: Extract<DaemonMessage, { type: "welcome" }>) => {
    if (welcome.resync) {
      resyncs += 1;
      painted = new Map();
    }
    state = restarted(state, welcome);
    becameLeftOut(welcome.leftOut);
  };

  const hear = (message: DaemonMessage) => {
    if (message.type === "page") heardPage(message);
    else if (message.type === "fill") heardFill(message);
    else if (message.type === "live") paint(message);
    else if (message.type === "welcome") heardWelcome(message);
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
    get leftOut() {
      return state.leftOut;
    },
    wanted,
    get link() {
      return current();
    },
    connect() {
      leaving = new Set();
      asked = new Set();
      filling = new Set();
      const fresh = linkConnection(accept, peer, hear);
      link = fresh;
      const { epoch, cursor, token } = state;
      const scope: Scope = { days: days ?? null, except: [...state.leftOut] };
      fresh.say({ type: "hello", epoch, cursor, token, scope, packings });
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
    keep(sessionId) {
      wanted.add(sessionId);
      if (state.leftOut.has(sessionId) && !asked.has(sessionId)) ask(sessionId);
    },
    leave(sessionId) {
      if (state.rows.get(`session ${sessionId} ${sessionId}`)?.row == null) return;
      wanted.delete(sessionId);
      state = withLeftOut(state, sessionId);
      becameLeftOut([sessionId]);
      leaving.add(sessionId);
      current().say({ type: "leave", sessionId });
    },
    painted: (sessionId, turnId, part) => painted.get(`${sessionId} ${turnId} ${part}`) ?? "",
    chunks,
  };
}
