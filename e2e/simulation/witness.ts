// Stands between the daemon's parts and looks: what is said to each connection is held against the
// rules of the protocol, and what happens is written into the history.

import type { LiveSink, TurnStream } from "../../server/feed/live-sink.ts";
import type {
  AcceptConnection,
  Connection,
  ConnectionHandler,
} from "../../server/transport/connection.ts";
import type { SessionId } from "../../shared/ids.ts";
import type { LiveEvent, Part } from "../../shared/protocol/live-events.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Change, RequestRow } from "../../shared/protocol/rows.ts";
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

  note(sessionId: SessionId, event: Exclude<LiveEvent, Chunk>, afterRev: number): void {
    const key = keyOf(sessionId, event);
    this.#revs.set(key, Math.min(afterRev, this.#revs.get(key) ?? afterRev));
  }

  of(sessionId: SessionId, event: Exclude<LiveEvent, Chunk>): number | undefined {
    return this.#revs.get(keyOf(sessionId, event));
  }
}

const keyOf = (sessionId: SessionId, event: Exclude<LiveEvent, Chunk>): string =>
  event.type === "tool.started"
    ? `${sessionId} started ${event.turnId} ${event.callId}`
    : `${sessionId} doing ${event.doing}`;

export interface WitnessOptions {
  readonly history: History;
  readonly revs: EventRevs;
  readonly accuse: Accuse;
  readonly resynced: () => void;
}

export function witnessConnections(
  accept: AcceptConnection,
  options: WitnessOptions,
): AcceptConnection {
  return (connection) => {
    const witness = new ConnectionWitness(connection.id, options);
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
  readonly #id: string;
  readonly #options: WitnessOptions;
  #helloCursor = 0;
  #isWelcomed = false;
  /** All rows up to here are held by the client. */
  #upto = 0;
  /** Nothing is left of what there was. */
  #holdsAll = false;
  readonly #calls = new Set<number>();
  /** How far each text was sent. */
  readonly #offsets = new Map<string, number>();
  /** Turns whose answer stands in a row that was sent. */
  readonly #ended = new Set<string>();

  constructor(id: string, options: WitnessOptions) {
    this.#id = id;
    this.#options = options;
  }

  heard(message: unknown): void {
    if (typeof message !== "object" || message === null || !("type" in message)) return;
    if (message.type === "hello" && "cursor" in message) this.#helloCursor = Number(message.cursor);
    if (message.type === "watch" && "sessionId" in message) {
      for (const key of this.#offsets.keys()) {
        if (key.startsWith(`${message.sessionId}/`)) this.#offsets.delete(key);
      }
    }
    if (message.type === "call" && "id" in message) this.#calls.add(Number(message.id));
  }

  sent(message: DaemonMessage): void {
    switch (message.type) {
      case "welcome":
        this.#isWelcomed = true;
        if (message.resync) this.#options.resynced();
        this.#upto = message.resync ? 0 : this.#helloCursor;
        this.#holdsAll = this.#upto >= message.head;
        return;
      case "page":
        this.#page(message);
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

  #page({ changes, upto, more }: Message<"page">): void {
    if (!this.#isWelcomed) this.#accuse("a page came before the welcome");
    let last = this.#upto;
    for (const change of changes) {
      if (change.rev <= last) this.#accuse(`[F6] rev ${change.rev} came after ${last}`);
      last = change.rev;
      this.#note(change);
    }
    if (upto < last) this.#accuse(`[F2] a page up to ${upto} holds rev ${last}`);
    this.#upto = upto;
    this.#holdsAll = more === 0;
  }

  #note(change: Change): void {
    this.#options.history.sent(change);
    if (change.kind === "turn" && change.row?.state !== "streaming") {
      this.#ended.add(`${change.sessionId}/${change.id}`);
    }
    if (change.kind === "request" && change.row !== null) {
      const { requests } = this.#options.history;
      const before = requests.get(change.id);
      const problem = before && unlawfulChange(before, change.row);
      if (problem) this.#accuse(`request ${change.id} ${problem}`);
      requests.set(change.id, change.row);
    }
  }

  #live({ sessionId, event }: Message<"live">): void {
    if (!this.#isWelcomed) this.#accuse("a live event came before the welcome");
    if (!this.#holdsAll) this.#accuse(`[F6] ${event.type} came in the middle of catching up`);
    if (event.type === "turn.chunk") {
      this.#chunk(sessionId, event);
      return;
    }
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
    if (rev === undefined || rev > this.#upto) {
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
    this.#options.accuse(`${this.#id}: ${what}`);
  }
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
