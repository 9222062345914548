// One connection's share of the feed: from the welcome on, shows each page's rows, stores them with
// their cursor in one transaction and only then acks (F2). It counts how far catching up has got.

import type { ClientMessage, DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import type { Clock } from "../clock.ts";
import type { Position, ReplicaRows } from "./replica.ts";

/** The state of the feed that rows were taken from. */
export type Standing = Pick<Position, "epoch" | "cursor" | "token">;

type Message<T extends DaemonMessage["type"]> = Extract<DaemonMessage, { type: T }>;

export interface IntakeActions {
  send(message: ClientMessage): void;
  rows(changes: Change[], reset: boolean): void;
  progress(applied: number, total: number): void;
  /** Every row there was has been shown and stored. */
  caughtUp(): void;
  /** Another worker restarted the replica: this connection's cursor means nothing any more. */
  overtaken(): void;
  storageFailed(error: unknown): void;
}

export class FeedIntake {
  readonly #replica: ReplicaRows;
  readonly #clock: Clock;
  readonly #actions: IntakeActions;
  #epoch: string | null;
  #cursor: number;
  #applied = 0;
  #isCaughtUp = false;
  #isOver = false;
  #stored: Standing;

  constructor(replica: ReplicaRows, clock: Clock, position: Position, actions: IntakeActions) {
    this.#replica = replica;
    this.#clock = clock;
    this.#actions = actions;
    this.#epoch = position.epoch;
    this.#cursor = position.cursor;
    this.#stored = position;
  }

  /** What was shown and is stored, as of the last write that is through. */
  get stored(): Standing {
    return this.#stored;
  }

  /** Pages must be given in the order received, right away: their transactions keep that order. */
  page({ changes, upto, token, more }: Message<"page">): void {
    if (this.#epoch === null) return;
    const page = { epoch: this.#epoch, base: this.#cursor, changes, upto, token };
    this.#cursor = upto;
    this.#actions.rows(changes, false);
    const storing = this.#replica.storePage({ ...page, at: this.#clock.now() });
    this.#settle(this.#noting(storing, page.epoch, upto, token), (isStored) => {
      if (!isStored) {
        this.end();
        this.#actions.overtaken();
        return;
      }
      this.#actions.send({ type: "ack", cursor: upto, token });
      this.#applied += changes.length;
      if (more === 0) this.#nothingLeft();
      else if (!this.#isCaughtUp) this.#actions.progress(this.#applied, this.#applied + more);
    });
  }

  welcome({ epoch, head, resync }: Message<"welcome">): void {
    if (resync || epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#cursor = 0;
      const restarting = this.#replica.restart(epoch).then(() => true);
      this.#settle(this.#noting(restarting, epoch, 0, null), () => {});
      this.#actions.rows([], true);
    }
    if (head <= this.#cursor) this.#nothingLeft();
    else this.#actions.progress(0, 0);
  }

  /** What is still being stored no longer speaks for a connection. */
  end(): void {
    this.#isOver = true;
  }

  #nothingLeft(): void {
    if (this.#isCaughtUp) return;
    this.#isCaughtUp = true;
    this.#actions.caughtUp();
  }

  /** Also of a connection that is over: the next one compares what it finds with this. */
  async #noting(
    storing: Promise<boolean>,
    epoch: string,
    cursor: number,
    token: string | null,
  ): Promise<boolean> {
    const isStored = await storing;
    if (isStored) this.#stored = { epoch, cursor, token };
    return isStored;
  }

  #settle<T>(storing: Promise<T>, stored: (value: T) => void): void {
    storing.then(
      (value) => {
        if (!this.#isOver) stored(value);
      },
      (error: unknown) => {
        if (this.#isOver) return;
        this.end();
        this.#actions.storageFailed(error);
      },
    );
  }
}
