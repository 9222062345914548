// Stands between the daemon's parts and looks: what is said to each connection is held against the
// rules of the protocol, and what happens is written into the history.

import { inflateRawSync } from "node:zlib";
import type { LiveSink, PublishedEvent, TurnStream } from "../../server/feed/live-sink.ts";
import type {
  AcceptConnection,
  Connection,
  ConnectionHandler,
} from "../../server/transport/connection.ts";
import type { DeviceId, SessionId } from "../../shared/ids.ts";
import { decode } from "../../shared/protocol/codec.ts";
import type { LiveEvent, Part } from "../../shared/protocol/live-events.ts";
import { type DaemonMessage, daemonMessageSchema } from "../../shared/protocol/messages.ts";
import {
  type Change,
  isBodyKind,
  type RequestRow,
  sessionIdSchema,
} from "../../shared/protocol/rows.ts";
import { type History, streamKey } from "./history.ts";

/** A rule was broken. */
export type Accuse = (what: string) => void;

type Message<T extends DaemonMessage["type"]> = Extract<DaemonMessage, { type: T }>;
type Chunk = Extract<LiveEvent, { type: "turn.chunk" }>;

/** Streams whose words go into the history as they are said. */
export function witnessLive(live: LiveSink, history: History, revs: EventRevs): LiveSink {
  return {
    openStream(sessionId, turnId, rowRev) {
      history.turnRevs.set(`${sessionId}/${turnId}`, rowRev);
      return witnessStream(live.openStream(sessionId, turnId, rowRev), (part, text) => {
        const key = streamKey(sessionId, turnId, part);
        history.said.set(key, (history.said.get(key) ?? "") + text);
      });
    },
    publish(sessionId, event, afterRev) {
      revs.note(sessionId, event, afterRev);
      live.publish(sessionId, event, afterRev);
    },
  };
}

function witnessStream(stream: TurnStream, said: (part: Part, text: string) => void): TurnStream {
  return {
    append(part, text) {
      said(part, text);
      stream.append(part, text);
    },
    text: (part) => stream.text(part),
    parts: () => stream.parts(),
    end: () => stream.end(),
  };
}

/** The least rev that each event was ever published behind. */
export class EventRevs {
  readonly #revs = new Map<string, number>();

  note(sessionId: SessionId, event: PublishedEvent, afterRev: number): void {
    const key = keyOf(sessionId, event);
    this.#revs.set(key, Math.min(afterRev, this.#revs.get(key) ?? afterRev));
  }

  of(sessionId: SessionId, event: PublishedEvent): number | undefined {
    return this.#revs.get(keyOf(sessionId, event));
  }
}

const keyOf = (sessionId: SessionId, event: PublishedEvent): string =>
  event.type === "tool.started"
    ? `${sessionId} started ${event.turnId} ${event.callId}`
    : `${sessionId} doing ${event.doing}`;

export interface WitnessOptions {
  readonly history: History;
  readonly revs: EventRevs;
  readonly accuse: Accuse;
  readonly told: (message: DaemonMessage) => void;
  /** Whether the device was ever given a link to the session. */
  readonly maySee: (deviceId: DeviceId, sessionId: SessionId | null) => boolean;
}

export function witnessConnections(
  accept: AcceptConnection,
  options: WitnessOptions,
): AcceptConnection {
  return (connection) => {
    const witness = new ConnectionWitness(connection, options);
    const handler = accept(witnessed(connection, witness));
    return heard(handler, witness);
  };
}

const witnessed = (connection: Connection, witness: ConnectionWitness): Connection => ({
  id: connection.id,
  peer: connection.peer,
  get queuedBytes() {
    return connection.queuedBytes;
  },
  send(message) {
    witness.sent(message);
    connection.send(message);
  },
  drained: () => connection.drained(),
  close: () => connection.close(),
});

const heard = (handler: ConnectionHandler, witness: ConnectionWitness): ConnectionHandler => ({
  message(message) {
    witness.heard(message);
    handler.message(message);
  },
  undecodable: (reason) => handler.undecodable(reason),
  closed: () => handler.closed(),
});

/** What one connection is told, in order. */
class ConnectionWitness {
  readonly #name: string;
  readonly #peer: Connection["peer"];
  readonly #options: WitnessOptions;
  #helloCursor = 0;
  #isWelcomed = false;
  /** All rows up to here are held by the client, those left out aside. */
  #upto = 0;
  /** Nothing is left of what there was. */
  #holdsAll = false;
  readonly #calls = new Set<number>();
  /** How far each text was sent. */
  readonly #offsets = new Map<string, number>();
  /** Turns whose answer stands in a row that was sent. */
  readonly #ended = new Set<string>();
  /** Turns whose row was sent. */
  readonly #turns = new Set<string>();
  /** Sessions of which the client holds no bodies, or not all. */
  readonly #leftOut = new Set<SessionId>();
  #filling: SessionId | null = null;

  constructor({ id, peer }: Connection, options: WitnessOptions) {
    this.#name = id;
    this.#peer = peer;
    this.#options = options;
  }

  heard(message: unknown): void {
    if (typeof message !== "object" || message === null || !("type" in message)) return;
    if (message.type === "hello" && "cursor" in message) this.#helloCursor = Number(message.cursor);
    if (message.type === "call" && "id" in message) this.#calls.add(Number(message.id));
    if (!("sessionId" in message)) return;
    const sessionId = sessionIdSchema.parse(message.sessionId);
    if (message.type === "leave") {
      this.#leftOut.add(sessionId);
      if (this.#filling === sessionId) this.#filling = null;
    }
    if (message.type === "watch" || message.type === "keep" || message.type === "leave") {
      for (const key of this.#offsets.keys()) {
        if (key.startsWith(`${sessionId}/`)) this.#offsets.delete(key);
      }
    }
  }

  sent(message: DaemonMessage): void {
    this.#options.told(message);
    switch (message.type) {
      case "packed":
        this.sent(unpacked(message));
        return;
      case "welcome":
        this.#isWelcomed = true;
        this.#upto = message.resync ? 0 : this.#helloCursor;
        this.#holdsAll = this.#upto >= message.head;
        for (const sessionId of message.leftOut) this.#leftOut.add(sessionId);
        return;
      case "page":
        this.#page(message);
        return;
      case "fill":
        this.#fill(message);
        return;
      case "live":
        this.#live(message);
        return;
      case "result":
      case "failure":
        this.#answer(message.id);
        return;
      default:
    }
  }

  #answer(id: number | null): void {
    if (id === null) return;
    if (!this.#calls.delete(id)) this.#accuse(`[M1] call ${id} was answered twice`);
  }

  #page({ changes, upto, more, leftOut }: Message<"page">): void {
    if (!this.#isWelcomed) this.#accuse("a page came before the welcome");
    for (const sessionId of leftOut) this.#leftOut.add(sessionId);
    this.#rows(changes, this.#upto);
    const last = changes.at(-1)?.rev ?? 0;
    if (upto < last) this.#accuse(`[F2] a page up to ${upto} holds rev ${last}`);
    this.#upto = upto;
    this.#holdsAll = more === 0;
  }

  /** F9: what a session's bodies are, between its pages. */
  #fill({ sessionId, changes, cursor, isFirst, isLast }: Message<"fill">): void {
    if (cursor !== this.#upto) this.#accuse(`[F9] a fill of ${cursor} came at ${this.#upto}`);
    if (!isFirst && this.#filling !== sessionId) {
      this.#accuse(`[F9] a fill of ${sessionId} has no beginning`);
    }
    if (isFirst) this.#leftOut.add(sessionId);
    if (changes.some((change) => change.sessionId !== sessionId || !isBodyKind(change.kind))) {
      this.#accuse(`[F9] a fill of ${sessionId} holds what is no body of it`);
    }
    this.#rows(changes, 0);
    this.#filling = isLast ? null : sessionId;
    if (isLast) this.#leftOut.delete(sessionId);
  }

  #rows(changes: readonly Change[], after: number): void {
    let last = after;
    for (const change of changes) {
      if (change.rev <= last) this.#accuse(`[F6] rev ${change.rev} came after ${last}`);
      last = change.rev;
      this.#note(change);
    }
  }

  #note(change: Change): void {
    const { history } = this.#options;
    if (this.#isViewer) this.#checkSight(change);
    else history.sent(change);
    if (change.kind === "turn" && change.row !== null) {
      const turn = `${change.sessionId}/${change.id}`;
      this.#turns.add(turn);
      if (change.row.state !== "streaming") this.#ended.add(turn);
    }
    if (change.kind === "request" && change.row !== null) {
      const { requests } = history;
      const before = requests.get(change.id);
      const problem = before && unlawfulChange(before, change.row);
      if (problem) this.#accuse(`request ${change.id} ${problem}`);
      requests.set(change.id, change.row);
    }
  }

  get #isViewer(): boolean {
    return this.#peer.kind === "device" && this.#peer.role === "viewer";
  }

  #checkSight({ kind, sessionId, id }: Change): void {
    if (this.#peer.kind !== "device") return;
    const { deviceId } = this.#peer;
    const isSeen =
      kind === "device"
        ? id === deviceId
        : kind !== "share" && kind !== "grant" && this.#options.maySee(deviceId, sessionId);
    if (!isSeen) this.#accuse(`[F9] a viewer was sent ${kind} ${id} of ${sessionId}`);
  }

  #live({ sessionId, event }: Message<"live">): void {
    if (!this.#isWelcomed) this.#accuse("a live event came before the welcome");
    if (!this.#holdsAll) this.#accuse(`[F6] ${event.type} came in the middle of catching up`);
    if (this.#peer.kind === "device" && this.#isViewer) {
      if (!this.#options.maySee(this.#peer.deviceId, sessionId)) {
        this.#accuse(`[F9] a viewer was told ${event.type} of ${sessionId}`);
      }
    }
    if (event.type === "turn.chunk") {
      this.#chunk(sessionId, event);
      return;
    }
    // What is left out moves the cursor without a page.
    if (event.type === "session.lookers" || this.#isViewer || this.#leftOut.size > 0) return;
    const rev = this.#options.revs.of(sessionId, event);
    if (rev === undefined || rev > this.#upto) {
      this.#accuse(`[F6] ${event.type} came at ${this.#upto}, before its row at ${rev}`);
    }
  }

  #chunk(sessionId: SessionId, { turnId, part, offset, text }: Chunk): void {
    const { history } = this.#options;
    const turn = `${sessionId}/${turnId}`;
    const key = streamKey(sessionId, turnId, part);
    const rev = history.turnRevs.get(turn);
    if (this.#leftOut.has(sessionId)) {
      this.#accuse(`[F6] a chunk of ${key} came, though its session is left out`);
    }
    if (!this.#turns.has(turn) && (rev === undefined || rev > this.#upto)) {
      this.#accuse(`[F6] a chunk of ${key} came at ${this.#upto}, before its turn's row at ${rev}`);
    }
    const isText = part === "answer" || part === "reasoning";
    if (isText && this.#ended.has(turn)) {
      this.#accuse(`[F1] a chunk of ${key} came after the row that holds it`);
    }
    const expected = this.#offsets.get(key);
    if (expected !== undefined && offset !== expected) {
      this.#accuse(`[S1] a chunk of ${key} began at ${offset} instead of ${expected}`);
    }
    this.#offsets.set(key, offset + text.length);
    if (history.said.get(key)?.slice(offset, offset + text.length) !== text) {
      this.#accuse(`[S2] a chunk of ${key} at ${offset} is not what was said`);
    }
  }

  #accuse(what: string): void {
    this.#options.accuse(`${this.#name}: ${what}`);
  }
}

function unpacked({ bytes }: Message<"packed">): DaemonMessage {
  return daemonMessageSchema.parse(decode(inflateRawSync(bytes)));
}

const AFTER: Readonly<Record<RequestRow["state"], readonly RequestRow["state"][]>> = {
  queued: ["queued", "running", "done", "cancelled", "failed", "interrupted"],
  running: ["running", "done", "cancelled", "failed", "interrupted"],
  done: ["done"],
  cancelled: ["cancelled"],
  failed: ["failed"],
  interrupted: ["interrupted"],
};

function unlawfulChange(before: RequestRow, after: RequestRow): string | null {
  if (!AFTER[before.state].includes(after.state))
    return `went from ${before.state} to ${after.state}`;
  if (before.startedAt !== null && before.startedAt !== after.startedAt) return "began twice";
  return before.seq === after.seq ? null : `moved from ${before.seq} to ${after.seq}`;
}
