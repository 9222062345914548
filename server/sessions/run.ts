// The state of a running request. The session and its loop share it; what ends the request, ends it
// here first, and from then on nothing is added to it.

import type { RequestId, SessionId } from "../../shared/ids.ts";
import { addUsage, NO_USAGE } from "../../shared/model/usage.ts";
import type { SessionRow, TurnRow, Usage } from "../../shared/protocol/rows.ts";
import type { TurnStream } from "../feed/live-sink.ts";
import type { WriteTx } from "../store/store.ts";
import type { Begun, OpenTurn, RequestEnd } from "./ending.ts";

/** Thrown into a loop whose request was ended by someone else: it has nothing more to say. */
export class RunClosed extends Error {
  override readonly name = "RunClosed";
}

/** What a loop may do to its session, one thing after another with all else that happens there. */
export interface RunPort {
  readonly sessionId: SessionId;
  readonly run: Run;
  /** Writes the turn's next row in one transaction with what else `work` writes. Resolves with the rev. */
  changeTurn(work: (tx: WriteTx, turn: TurnRow) => Promise<TurnRow>): Promise<number>;
  /** Begins the next turn: its row, then its stream. */
  nextTurn(): Promise<void>;
  /** Stores what was streamed so far, for a crash (F8). */
  saveStream(): Promise<void>;
  /** Ends the request; does nothing if it has ended. */
  finish(end: RequestEnd): Promise<void>;
}

export class Run {
  readonly requestId: RequestId;
  /** As it was when the request began. */
  readonly session: SessionRow;
  turnId: number;
  turn: TurnRow;
  turnRev: number;
  stream: TurnStream;
  turnUsage: Usage | null = null;
  reasoningMs: number | null = null;
  /** Turns of this request, the one under way included. */
  turns = 1;
  #usageBefore: Usage = NO_USAGE;
  #end: RequestEnd | null = null;
  readonly #abort = new AbortController();

  constructor(begun: Begun, session: SessionRow, stream: TurnStream) {
    this.requestId = begun.requestId;
    this.session = session;
    this.turnId = begun.turnId;
    this.turn = begun.turn;
    this.turnRev = begun.turnRev;
    this.stream = stream;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** How the request ended, once it has; its rows may say so a moment later. */
  get end(): RequestEnd | null {
    return this.#end;
  }

  get usage(): Usage {
    return addUsage(this.#usageBefore, this.turnUsage);
  }

  /** The first end holds. */
  close(end: RequestEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#abort.abort();
  }

  throwIfClosed(): void {
    if (this.#end !== null) throw new RunClosed();
  }

  startTurn(begun: Begun, stream: TurnStream): void {
    this.#usageBefore = this.usage;
    this.turnUsage = null;
    this.reasoningMs = null;
    this.turns += 1;
    this.turnId = begun.turnId;
    this.turn = begun.turn;
    this.turnRev = begun.turnRev;
    this.stream = stream;
  }

  openTurn(): OpenTurn {
    const { stream } = this;
    return {
      turnId: this.turnId,
      row: this.turn,
      text: (part) => stream.text(part),
      usage: this.turnUsage,
      reasoningMs: this.reasoningMs,
    };
  }
}
