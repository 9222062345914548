// What is happening right now, by session: the text of running turns, the tools that run, what is being
// done. It is kept here once, whoever watches; who was told what is watching.ts's affair.

import { assertNever } from "../../shared/assert-never.ts";
import type { CallId, SessionId } from "../../shared/ids.ts";
import type { Part } from "../../shared/protocol/live-events.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import type { LiveSink, PublishedEvent, TurnStream } from "./live-sink.ts";
import { PartText } from "./part-text.ts";

/** Of one message; what is beyond follows in the next. */
const CHUNK_MAX_UNITS = 256 * 1024;

/** A connection's ear. Called in the order things happen. */
export interface BoardListener {
  doingChanged(sessionId: SessionId, doing: Doing): void;
  /** A tool began in a watched session. */
  toolStarted(): void;
  /** Text was added to a turn of a watched session. */
  textAdded(): void;
  /** No more text of this turn: its row holds it. */
  turnEnded(sessionId: SessionId, turnId: number): void;
}

export interface Doing {
  readonly doing: string | null;
  readonly afterRev: number;
}

const IDLE: Doing = { doing: null, afterRev: 0 };

export interface StartedCall {
  /** Grows with every tool started in the session. */
  readonly order: number;
  readonly turnId: number;
  readonly callId: CallId;
  readonly afterRev: number;
}

export interface LiveChunk {
  readonly from: number;
  readonly to: number;
  readonly message: DaemonMessage;
}

export class LivePart {
  readonly text = new PartText();
  readonly #name: Part;
  /** The rev of the row that the text belongs to. */
  readonly #afterRev: number;
  /** The rev of a row that holds this text; null until one does (F1). */
  #supersededAt: number | null = null;
  #lastChunk: LiveChunk | null = null;

  constructor(name: Part, afterRev: number) {
    this.#name = name;
    this.#afterRev = afterRev;
  }

  /** Whether a connection that holds all rows up to `rev` may be shown this part. */
  isLiveAt(rev: number): boolean {
    return this.#afterRev <= rev && (this.#supersededAt === null || this.#supersededAt > rev);
  }

  supersede(rev: number): void {
    this.#supersededAt ??= rev;
  }

  /** The text from `offset` on. Watchers that are equally far get the same message, encoded once. */
  chunkFrom(sessionId: SessionId, turnId: number, offset: number): LiveChunk {
    const end = Math.min(this.text.length, offset + CHUNK_MAX_UNITS);
    const to = this.text.isBoundary(end) ? end : end - 1;
    let chunk = this.#lastChunk;
    if (chunk === null || chunk.from !== offset || chunk.to !== to) {
      const text = this.text.slice(offset, to);
      const event = { type: "turn.chunk", turnId, part: this.#name, offset, text } as const;
      chunk = { from: offset, to, message: { type: "live", sessionId, event } };
      this.#lastChunk = chunk;
    }
    return chunk;
  }
}

interface RunningTurn {
  readonly turnId: number;
  readonly rowRev: number;
  readonly parts: Map<Part, LivePart>;
}

export interface LiveSession {
  readonly turns: ReadonlyMap<number, { readonly parts: ReadonlyMap<Part, LivePart> }>;
  readonly started: readonly StartedCall[];
}

class SessionBoard implements LiveSession {
  readonly turns = new Map<number, RunningTurn>();
  readonly listeners = new Set<BoardListener>();
  started: StartedCall[] = [];
  doing: Doing = IDLE;
  startedCount = 0;

  get isUnused(): boolean {
    return this.turns.size === 0 && this.listeners.size === 0 && this.doing.doing === null;
  }
}

export class LiveBoard implements LiveSink {
  readonly #head: () => number;
  readonly #sessions = new Map<SessionId, SessionBoard>();
  readonly #listeners = new Set<BoardListener>();

  /** `head`: the feed's. */
  constructor(head: () => number) {
    this.#head = head;
  }

  /** Hears what every session does, from now on; what they do at this moment comes at once. */
  join(listener: BoardListener): () => void {
    this.#listeners.add(listener);
    for (const [sessionId, { doing }] of this.#sessions) {
      if (doing.doing !== null) listener.doingChanged(sessionId, doing);
    }
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Hears the text and tools of one session until disposed. */
  watch(sessionId: SessionId, listener: BoardListener): () => void {
    this.#session(sessionId).listeners.add(listener);
    return () => {
      this.#sessions.get(sessionId)?.listeners.delete(listener);
      this.#tidy(sessionId);
    };
  }

  doing(sessionId: SessionId): Doing {
    return this.#sessions.get(sessionId)?.doing ?? IDLE;
  }

  session(sessionId: SessionId): LiveSession | null {
    return this.#sessions.get(sessionId) ?? null;
  }

  openStream(sessionId: SessionId, turnId: number, rowRev: number): TurnStream {
    const session = this.#session(sessionId);
    const turn: RunningTurn = { turnId, rowRev, parts: new Map() };
    session.turns.set(turnId, turn);
    session.started = session.started.filter((call) => call.turnId >= turnId);
    return {
      append: (part, text) => this.#append(session, turn, part, text),
      text: (part) => turn.parts.get(part)?.text.whole() ?? "",
      parts: () => wholeParts(turn),
      end: () => this.#end(sessionId, turn),
    };
  }

  publish(sessionId: SessionId, event: PublishedEvent, afterRev: number): void {
    const session = this.#session(sessionId);
    switch (event.type) {
      case "session.doing":
        session.doing = { doing: event.doing, afterRev };
        if (event.doing === null) session.started = [];
        for (const listener of this.#listeners) listener.doingChanged(sessionId, session.doing);
        break;
      case "tool.started":
        session.startedCount += 1;
        session.started.push({
          order: session.startedCount,
          turnId: event.turnId,
          callId: event.callId,
          afterRev,
        });
        for (const listener of session.listeners) listener.toolStarted();
        break;
      default:
        assertNever(event);
    }
    this.#tidy(sessionId);
  }

  /** Whether anything happens there, or someone watches it. */
  hasSession(sessionId: SessionId | null): boolean {
    return sessionId !== null && this.#sessions.has(sessionId);
  }

  /** Rows that are on their way to someone take the place of the text they hold (F1). */
  noteRows(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.sessionId === null || !this.#sessions.has(change.sessionId)) continue;
      if (change.kind === "turn") {
        if (change.row?.state === "streaming") continue;
        const parts = this.#turn(change.sessionId, Number(change.id))?.parts;
        parts?.get("answer")?.supersede(change.rev);
        parts?.get("reasoning")?.supersede(change.rev);
      } else if (change.kind === "toolResult" && change.row !== null) {
        const parts = this.#turn(change.sessionId, change.row.turnId)?.parts;
        parts?.get(`output:${change.row.callId}`)?.supersede(change.rev);
      }
    }
  }

  #append(session: SessionBoard, turn: RunningTurn, part: Part, text: string): void {
    if (session.turns.get(turn.turnId) !== turn) {
      throw new Error(`Text for turn ${turn.turnId} after its stream was ended`);
    }
    let live = turn.parts.get(part);
    if (live === undefined) {
      // A tool's output belongs to the turn's row as it is once the calls stand in it.
      const isOutput = part !== "answer" && part !== "reasoning";
      live = new LivePart(part, isOutput ? Math.max(turn.rowRev, this.#head()) : turn.rowRev);
      turn.parts.set(part, live);
    }
    live.text.append(text);
    for (const listener of session.listeners) listener.textAdded();
  }

  #end(sessionId: SessionId, turn: RunningTurn): void {
    const session = this.#sessions.get(sessionId);
    if (session?.turns.get(turn.turnId) !== turn) return;
    session.turns.delete(turn.turnId);
    session.started = session.started.filter((call) => call.turnId !== turn.turnId);
    for (const listener of session.listeners) listener.turnEnded(sessionId, turn.turnId);
    this.#tidy(sessionId);
  }

  #session(sessionId: SessionId): SessionBoard {
    let session = this.#sessions.get(sessionId);
    if (session === undefined) {
      session = new SessionBoard();
      this.#sessions.set(sessionId, session);
    }
    return session;
  }

  #turn(sessionId: SessionId, turnId: number): RunningTurn | undefined {
    return this.#sessions.get(sessionId)?.turns.get(turnId);
  }

  #tidy(sessionId: SessionId): void {
    if (this.#sessions.get(sessionId)?.isUnused) this.#sessions.delete(sessionId);
  }
}

function wholeParts(turn: RunningTurn): Partial<Record<Part, string>> {
  const parts: Partial<Record<Part, string>> = {};
  for (const [part, { text }] of turn.parts) parts[part] = text.whole();
  return parts;
}
