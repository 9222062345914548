// Sends one connection what happens now: in step with its rows (F6), at a bounded rate, and nothing
// while it is behind in reading. What waits is on the board, not here.

import { CHUNK_COALESCE_MS, PAGE_QUEUE_LOW_BYTES } from "../../shared/limits.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Clock } from "../clock.ts";
import type { Connection } from "../transport/connection.ts";
import type { BoardListener, LiveBoard } from "./live-board.ts";
import { Watching } from "./watching.ts";

export class LiveSender {
  readonly #connection: Connection;
  readonly #board: LiveBoard;
  readonly #clock: Clock;
  readonly #listener: BoardListener;
  readonly watching: Watching;
  #state: "waiting" | "running" | "stopped" = "waiting";
  #leaveBoard = () => {};
  /** The connection was sent every row as it was at this rev: live events up to it may go. */
  #heldRev = -1;
  #isWaitingForRoom = false;
  #textDueAt = 0;
  #cancelText: (() => void) | null = null;

  constructor(connection: Connection, board: LiveBoard, clock: Clock) {
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
    this.watching = new Watching(board, this.#listener);
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
