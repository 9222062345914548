// Sends one connection what happens now: in step with its rows (F6), at a bounded rate, and nothing
// while it is behind in reading. What waits is on the board, not here.

import type { SessionId } from "../../shared/ids.ts";
import { CHUNK_COALESCE_MS, PAGE_QUEUE_LOW_BYTES } from "../../shared/limits.ts";
import type { WatchPosition } from "../../shared/protocol/live-events.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Clock } from "../clock.ts";
import type { Connection } from "../transport/connection.ts";
import type { BoardListener, LiveBoard } from "./live-board.ts";
import type { Presence, Seat } from "./presence.ts";
import type { Sight } from "./sight.ts";
import { Watching } from "./watching.ts";

export interface LiveSenderOptions {
  readonly connection: Connection;
  readonly board: LiveBoard;
  readonly presence: Presence;
  readonly sight: Sight;
  readonly clock: Clock;
}

export class LiveSender {
  readonly #connection: Connection;
  readonly #board: LiveBoard;
  readonly #clock: Clock;
  readonly #listener: BoardListener;
  readonly #seat: Seat;
  readonly watching: Watching;
  #state: "waiting" | "running" | "stopped" = "waiting";
  #leaveBoard = () => {};
  /** The connection was sent every row as it was at this rev: live events up to it may go. */
  #heldRev = -1;
  #isWaitingForRoom = false;
  #textDueAt = 0;
  #cancelText: (() => void) | null = null;

  constructor({ connection, board, presence, sight, clock }: LiveSenderOptions) {
    this.#connection = connection;
    this.#board = board;
    this.#clock = clock;
    this.#listener = {
      doingChanged: (sessionId, doing) => {
        this.watching.noteDoing(sessionId, doing);
        this.#sendEvents();
      },
      toolStarted: () => this.#sendEvents(),
      textAdded: () => this.#sendTextSoon(),
      turnEnded: (sessionId, turnId) => this.watching.forgetTurn(sessionId, turnId),
    };
    this.watching = new Watching(board, this.#listener, sight);
    const { peer } = connection;
    this.#seat = presence.join({
      deviceId: peer.kind === "device" ? peer.deviceId : null,
      // Whoever holds no other device's row would be told names of nothing (F9).
      isTold: peer.kind === "local" || peer.role === "owner",
      changed: () => this.#sendEvents(),
    });
  }

  watch(sessionId: SessionId, at: WatchPosition | null): void {
    this.watching.watch(sessionId, at);
    this.#seat.watch(sessionId);
    this.look();
  }

  unwatch(sessionId: SessionId): void {
    this.watching.unwatch(sessionId);
    this.#seat.unwatch(sessionId);
  }

  /** Someone sees these sessions at the connection's device; only such as it may see. */
  showPresence(sessionIds: readonly SessionId[]): void {
    this.#seat.look(sessionIds);
  }

  /** The device may no longer see the session. */
  lose(sessionId: SessionId): void {
    this.watching.lose(sessionId);
    this.#seat.lose(sessionId);
  }

  /** The device may see the session now: what it does at this moment is news, even if that is nothing. */
  gain(sessionId: SessionId): void {
    this.watching.noteDoing(sessionId, this.#board.doing(sessionId));
  }

  /** Nothing is sent before. */
  start(): void {
    if (this.#state !== "waiting") return;
    this.#state = "running";
    this.#leaveBoard = this.#board.join(this.#listener);
    this.look();
  }

  stop(): void {
    this.#state = "stopped";
    this.#leaveBoard();
    this.watching.stop();
    this.#seat.leave();
    this.#cancelText?.();
  }

  /** The connection was sent all rows as they were at `rev`. */
  rowsAreHeld(rev: number): void {
    this.#heldRev = rev;
    this.look();
  }

  /** Looks again at what there is to send. */
  look(): void {
    this.#sendEvents();
    this.#sendTextSoon();
  }

  readonly #send = (message: DaemonMessage): void => this.#connection.send(message);

  #sendEvents(): void {
    if (this.#state !== "running" || !this.#hasRoom()) return;
    this.watching.sendEvents(this.#heldRev, this.#send);
    this.#seat.sendChanges(this.#heldRev, this.#send);
  }

  #sendTextSoon(): void {
    if (this.#state !== "running" || this.#cancelText !== null) return;
    const wait = this.#textDueAt - this.#clock.now();
    if (wait <= 0) this.#sendText();
    else this.#cancelText = this.#clock.after(wait, () => this.#textIsDue());
  }

  #textIsDue(): void {
    this.#cancelText = null;
    this.#sendText();
  }

  #sendText(): void {
    if (this.#state !== "running" || !this.#hasRoom()) return;
    const { sent, hasMore } = this.watching.sendText(this.#heldRev, this.#send);
    if (sent) this.#textDueAt = this.#clock.now() + CHUNK_COALESCE_MS;
    if (hasMore) this.#sendTextSoon();
  }

  /** False while the connection is behind; then everything that waits is looked at again once it is not. */
  #hasRoom(): boolean {
    if (this.#isWaitingForRoom) return false;
    if (this.#connection.queuedBytes < PAGE_QUEUE_LOW_BYTES) return true;
    this.#isWaitingForRoom = true;
    void this.#connection.drained().then(() => {
      this.#isWaitingForRoom = false;
      this.look();
    });
    return false;
  }
}
