// What one connection was shown of what happens now: which sessions it watches, and how far it is in
// their text. Nothing is queued here: text waits on the board and is addressed by offset, so however
// slow the connection, only numbers are kept for it.

import type { SessionId } from "../../shared/ids.ts";
import type { Part, WatchPosition } from "../../shared/protocol/live-events.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { BoardListener, Doing, LiveBoard, LivePart } from "./live-board.ts";
import type { Sight } from "./sight.ts";

export type SendLive = (message: DaemonMessage) => void;

interface Watched {
  /** How far each part was sent, by turn. */
  readonly offsets: Map<number, Map<Part, number>>;
  /** What the client says it holds; looked at once, when the part is first sent. */
  at: WatchPosition | null;
  /** `order` of the last tool.started that was sent. */
  startedOrder: number;
  readonly stop: () => void;
}

export class Watching {
  readonly #board: LiveBoard;
  readonly #listener: BoardListener;
  readonly #sight: Sight;
  readonly #sessions = new Map<SessionId, Watched>();
  /** What to say of sessions' doings: the latest of each. */
  readonly #doings = new Map<SessionId, Doing>();

  constructor(board: LiveBoard, listener: BoardListener, sight: Sight) {
    this.#board = board;
    this.#listener = listener;
    this.#sight = sight;
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** Watching again starts over from `at`. */
  watch(sessionId: SessionId, at: WatchPosition | null): void {
    this.unwatch(sessionId);
    const stop = this.#board.watch(sessionId, this.#listener);
    this.#sessions.set(sessionId, { offsets: new Map(), at, startedOrder: 0, stop });
  }

  unwatch(sessionId: SessionId): void {
    this.#sessions.get(sessionId)?.stop();
    this.#sessions.delete(sessionId);
  }

  /** The client holds nothing of the session: what it is shown next begins at the beginning. */
  startOver(sessionId: SessionId): void {
    const watched = this.#sessions.get(sessionId);
    if (watched === undefined) return;
    watched.offsets.clear();
    watched.at = null;
    watched.startedOrder = 0;
  }

  /** The client forgets all it holds, whatever it said before it knew. */
  forgetPositions(): void {
    for (const watched of this.#sessions.values()) watched.at = null;
  }

  stop(): void {
    for (const { stop } of this.#sessions.values()) stop();
    this.#sessions.clear();
    this.#doings.clear();
  }

  noteDoing(sessionId: SessionId, doing: Doing): void {
    if (this.#sight.maySee(sessionId)) this.#doings.set(sessionId, doing);
  }

  /** The device may no longer see the session. It stays watched, for should it be granted again. */
  lose(sessionId: SessionId): void {
    this.#doings.delete(sessionId);
    this.startOver(sessionId);
  }

  forgetTurn(sessionId: SessionId, turnId: number): void {
    this.#sessions.get(sessionId)?.offsets.delete(turnId);
  }

  /** Sends the events that may go to a connection holding all rows up to `rev`; the others wait. */
  sendEvents(rev: number, send: SendLive): void {
    for (const [sessionId, { doing, afterRev }] of this.#doings) {
      if (afterRev > rev || !this.#sight.hasRow(sessionId, rev)) continue;
      this.#doings.delete(sessionId);
      send({ type: "live", sessionId, event: { type: "session.doing", doing } });
    }
    for (const [sessionId, watched] of this.#sessions) {
      if (!this.#sight.hasBodies(sessionId, rev)) continue;
      for (const call of this.#board.session(sessionId)?.started ?? []) {
        if (call.order <= watched.startedOrder) continue;
        if (call.afterRev > rev) break;
        watched.startedOrder = call.order;
        const { turnId, callId } = call;
        send({ type: "live", sessionId, event: { type: "tool.started", turnId, callId } });
      }
    }
  }

  /** Sends at most one chunk of each part. `sent`: any at all; `hasMore`: there is text left to send. */
  sendText(rev: number, send: SendLive): { sent: boolean; hasMore: boolean } {
    const outcome = { sent: false, hasMore: false };
    for (const [sessionId, watched] of this.#sessions) {
      if (!this.#sight.hasBodies(sessionId, rev)) continue;
      for (const [turnId, turn] of this.#board.session(sessionId)?.turns ?? []) {
        for (const [name, part] of turn.parts) {
          if (!part.isLiveAt(rev)) continue;
          const offsets = offsetsOf(watched, turnId);
          const offset = offsets.get(name) ?? startOf(watched.at, turnId, name, part);
          offsets.set(name, offset);
          if (offset >= part.text.length) continue;
          const chunk = part.chunkFrom(sessionId, turnId, offset);
          offsets.set(name, chunk.to);
          send(chunk.message);
          outcome.sent = true;
          if (chunk.to < part.text.length) outcome.hasMore = true;
        }
      }
    }
    return outcome;
  }
}

function offsetsOf(watched: Watched, turnId: number): Map<Part, number> {
  let offsets = watched.offsets.get(turnId);
  if (offsets === undefined) {
    offsets = new Map();
    watched.offsets.set(turnId, offsets);
  }
  return offsets;
}

/** Where the client is in a part; a position that cannot be one of this text starts over. */
function startOf(at: WatchPosition | null, turnId: number, name: Part, part: LivePart): number {
  if (at === null || at.turnId !== turnId || !Object.hasOwn(at.offsets, name)) return 0;
  const offset = at.offsets[name] ?? 0;
  return part.text.isBoundary(offset) ? offset : 0;
}
