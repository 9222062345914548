// One connection's share of the feed: from the welcome on, shows each page's rows, stores them with
// their cursor in one transaction and only then acks (F2). Fills are stored among the pages, in the
// order sent. It counts how far catching up has got, and knows which sessions are left out.

import type { SessionId } from "../../shared/ids.ts";
import type { ClientMessage, DaemonMessage } from "../../shared/protocol/messages.ts";
import { type Change, isBodyKind } from "../../shared/protocol/rows.ts";
import type { Clock } from "../clock.ts";
import { type MakeRoom, OrderedWrites } from "./ordered-writes.ts";
import type { FillToStore, PageToStore, Position, ReplicaRows, Writer } from "./replica.ts";

/** The state of the feed that rows were taken from. */
export type Standing = Pick<Position, "epoch" | "cursor" | "token" | "fills">;

type Message<T extends DaemonMessage["type"]> = Extract<DaemonMessage, { type: T }>;

/**
 * What for a left-out session is fetched: `keep`, to be kept, for which others may leave; `spare`, to be kept
 * if there is room; `show`, to be shown only.
 */
export type FetchAim = "keep" | "spare" | "show";

interface Leaving {
  /** It was asked for after that. */
  isAsked: boolean;
  /** And has to leave again: that is said once the first is answered, for an answer does not say to which it is. */
  isAgain: boolean;
}

export interface IntakeActions {
  send(message: ClientMessage): void;
  rows(changes: Change[], reset: boolean): void;
  progress(applied: number, total: number): void;
  /** Every row there was has been shown and stored. */
  caughtUp(): void;
  /** These sessions came, and are left out: what came of them is on its way to the disk. */
  cameLeftOut(sessionIds: readonly SessionId[]): void;
  /** All of a session that was left out is here: stored, or with `show` given to `rows`. */
  fetched(sessionId: SessionId, aim: FetchAim): void;
  /** There is no room for these sessions, and nothing that may leave for them. */
  outOfRoom(sessionIds: readonly SessionId[]): void;
  /** Another worker wrote to the replica what this connection does not know of. */
  overtaken(): void;
  /** What was told found room only later: whoever read in between has missed it. */
  storedLate(): void;
  storageFailed(error: unknown): void;
}

/** Where no replica is: what was shown could not be stored. */
const UNKNOWN: Omit<Standing, "fills"> = { epoch: null, cursor: -1, token: null };

export interface IntakeOptions {
  readonly replica: ReplicaRows;
  readonly clock: Clock;
  readonly position: Position;
  /** Unlike that of any other connection. */
  readonly connection: string;
  readonly makeRoom: MakeRoom;
  readonly actions: IntakeActions;
}

export class FeedIntake {
  readonly #replica: ReplicaRows;
  readonly #clock: Clock;
  readonly #connection: string;
  readonly #makeRoom: MakeRoom;
  readonly #actions: IntakeActions;
  readonly #writes = new OrderedWrites();
  #epoch: string | null;
  #cursor: number;
  /** The replica's fills once all that is under way is stored, and once all that is through was. */
  #fills: number;
  #storedFills: number;
  #applied = 0;
  #isCaughtUp = false;
  #isOver = false;
  /** Writes that are not through, and whether one of them had to be done again. */
  #underWay = 0;
  #isLate = false;
  #stored: Omit<Standing, "fills">;
  readonly #leftOut: Set<SessionId>;
  /** Left, and the daemon has not said so yet: what comes of a fill before that is of one called off (V5). */
  readonly #leaving = new Map<SessionId, Leaving>();
  /** Asked for, and nothing came yet. */
  readonly #asked = new Map<SessionId, FetchAim>();
  /** From the first part on; those that are only shown stay. */
  readonly #filling = new Map<SessionId, { aim: FetchAim; parts: number }>();

  constructor({ replica, clock, position, connection, makeRoom, actions }: IntakeOptions) {
    this.#replica = replica;
    this.#clock = clock;
    this.#connection = connection;
    this.#makeRoom = makeRoom;
    this.#actions = actions;
    this.#epoch = position.epoch;
    this.#cursor = position.cursor;
    this.#fills = this.#storedFills = position.fills;
    this.#leftOut = new Set(position.leftOut);
    this.#stored = position;
  }

  /** What was shown and is stored, as of the last write that is through. */
  get stored(): Standing {
    return { ...this.#stored, fills: this.#storedFills };
  }

  /** Until the last part of their fill is stored. */
  get leftOut(): ReadonlySet<SessionId> {
    return this.#leftOut;
  }

  /** What a session is being fetched for; with `show` also once it was. */
  aimOf(sessionId: SessionId): FetchAim | undefined {
    return this.#asked.get(sessionId) ?? this.#filling.get(sessionId)?.aim;
  }

  get isFetching(): boolean {
    return this.#asked.size + this.#filling.size > 0;
  }

  welcome({ epoch, head, resync, leftOut }: Message<"welcome">): void {
    const fresh = leftOut.filter((sessionId) => !this.#leftOut.has(sessionId));
    for (const sessionId of leftOut) this.#leftOut.add(sessionId);
    if (resync || epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#cursor = this.#fills = this.#storedFills = 0;
      const restart = () => this.#replica.restart(epoch, leftOut).then(() => true);
      const standing = { epoch, cursor: 0, token: null };
      this.#settle(this.#noting(this.#write(restart), standing), () => {});
      this.#actions.rows([], true);
    } else if (fresh.length > 0) {
      this.#settle(
        this.#write(() => this.#replica.leaveOut(fresh, "all")),
        () => {},
      );
    }
    if (head <= this.#cursor) this.#nothingLeft();
    else this.#actions.progress(0, 0);
  }

  /** Pages and fills must be given in the order received, right away: their transactions keep that order. */
  page({ changes, upto, token, more, leftOut }: Message<"page">): void {
    const writer = this.#writer();
    if (writer === null) return;
    const base = this.#cursor;
    this.#cursor = upto;
    for (const { kind, row, sessionId } of changes) {
      if (kind === "session" && row === null) this.#unmark(sessionId);
    }
    const news = leftOut.filter((sessionId) => !this.#isAnswer(sessionId));
    this.#mark(news);
    const page = { ...writer, base, changes, leftOut: news, upto, token, at: this.#clock.now() };
    this.#actions.rows(this.#shown(changes), false);
    const storing = this.#write(
      this.#counting((fills) => this.#replica.storePage({ ...page, fills })),
      () => this.#storeWithoutBodies({ ...page, fills: this.#storedFills }),
    );
    if (news.length > 0) this.#actions.cameLeftOut(news);
    const standing = { epoch: writer.epoch, cursor: upto, token };
    this.#settle(this.#noting(storing, standing), (isStored) => {
      if (!isStored) {
        this.#overtaken();
        return;
      }
      this.#actions.send({ type: "ack", cursor: upto, token });
      this.#applied += upto - base;
      if (more === 0) this.#nothingLeft();
      else if (!this.#isCaughtUp) this.#actions.progress(this.#applied, this.#applied + more);
    });
  }

  fill({ sessionId, changes, cursor, isFirst, isLast }: Message<"fill">): void {
    if (this.#leaving.has(sessionId)) return;
    const aim = isFirst ? this.aimOf(sessionId) : this.#filling.get(sessionId)?.aim;
    const writer = this.#writer();
    // One that nobody waits for any more.
    if (aim === undefined || writer === null) return;
    this.#asked.delete(sessionId);
    const filling = (isFirst ? null : this.#filling.get(sessionId)) ?? { aim, parts: 0 };
    this.#filling.set(sessionId, filling);
    const part = filling.parts++;
    if (aim === "show") {
      this.#actions.rows(changes, false);
      if (isLast) this.#actions.fetched(sessionId, aim);
      return;
    }
    const fill = { ...writer, sessionId, changes, cursor, part, isLast };
    const storing = this.#storeFill(fill);
    if (isLast) this.#fills++;
    this.#settle(storing, (isStored) => {
      if (isStored === null && isLast) this.#fills--;
      if (isStored === false) this.#overtaken();
      else if (isStored && isLast) this.#unmark(sessionId);
    });
    // Also of a connection that is over: the next one finds the session whole, and has nothing to tell.
    const tell = (isStored: boolean | null) => {
      if (isStored && isLast) this.#actions.fetched(sessionId, aim);
    };
    storing.then(tell, () => {}); // A failure was heard of above.
  }

  /** Asks for all of a session that is left out, if it does not come already: then for what is told. */
  fetch(sessionId: SessionId, aim: FetchAim): void {
    const filling = this.#filling.get(sessionId);
    if (filling !== undefined) filling.aim = aim;
    else {
      const isAsked = this.#asked.has(sessionId);
      this.#asked.set(sessionId, aim);
      if (!isAsked) this.#sendKeep(sessionId);
    }
  }

  /** They are marked as left out in the replica: nothing more of them is wanted. */
  leave(sessionIds: readonly SessionId[]): void {
    this.#mark(sessionIds);
    for (const sessionId of sessionIds) {
      const leaving = this.#leaving.get(sessionId);
      if (leaving === undefined) this.#sendLeave(sessionId);
      else leaving.isAgain = leaving.isAsked;
    }
  }

  /** What is still being stored no longer speaks for a connection. */
  end(): void {
    this.#isOver = true;
  }

  #writer(): Writer | null {
    const epoch = this.#epoch;
    if (epoch === null) return null;
    return { epoch, connection: this.#connection, fills: this.#fills };
  }

  #sendKeep(sessionId: SessionId): void {
    const leaving = this.#leaving.get(sessionId);
    // Then it is asked for once it has left again.
    if (leaving?.isAgain) return;
    if (leaving !== undefined) leaving.isAsked = true;
    this.#actions.send({ type: "keep", sessionId });
  }

  #sendLeave(sessionId: SessionId): void {
    this.#leaving.set(sessionId, { isAsked: false, isAgain: false });
    this.#actions.send({ type: "leave", sessionId });
  }

  /** Whether a page names the session because it left here. It may have been asked for again since. */
  #isAnswer(sessionId: SessionId): boolean {
    const leaving = this.#leaving.get(sessionId);
    if (leaving === undefined) return false;
    this.#leaving.delete(sessionId);
    if (leaving.isAgain) {
      this.#sendLeave(sessionId);
      if (this.#asked.has(sessionId)) this.#sendKeep(sessionId);
    }
    return true;
  }

  #mark(sessionIds: readonly SessionId[]): void {
    for (const sessionId of sessionIds) {
      this.#unmark(sessionId);
      this.#leftOut.add(sessionId);
    }
  }

  #unmark(sessionId: SessionId): void {
    this.#leftOut.delete(sessionId);
    this.#asked.delete(sessionId);
    this.#filling.delete(sessionId);
  }

  /** What is sent before a session's first part is in that fill as well. */
  #shown(changes: Change[]): Change[] {
    if (this.#leftOut.size === 0) return changes;
    return changes.filter(
      ({ kind, sessionId }) =>
        sessionId === null ||
        !isBodyKind(kind) ||
        !this.#leftOut.has(sessionId) ||
        this.#filling.has(sessionId),
    );
  }

  #write<T>(write: () => Promise<T>, otherwise: (() => Promise<T>) | null = null): Promise<T> {
    const makeRoom = () => {
      this.#isLate = true;
      return this.#makeRoom();
    };
    return this.#writes.run(write, { makeRoom, otherwise });
  }

  /** A first attempt begins before all others are through; one that is made again, after. */
  #counting<T>(write: (fills: number) => Promise<T>): () => Promise<T> {
    let fills: number | null = this.#fills;
    return () => {
      const expected = fills ?? this.#storedFills;
      fills = null;
      return write(expected);
    };
  }

  /** The feed goes on, whatever there is no room for. */
  async #storeWithoutBodies(page: PageToStore): Promise<boolean> {
    const dropped = new Set(page.leftOut);
    for (const { kind, sessionId } of page.changes) {
      if (sessionId !== null && isBodyKind(kind)) dropped.add(sessionId);
    }
    const isStored = await this.#replica.storePage({ ...page, leftOut: [...dropped] });
    if (isStored) this.#foundNoRoom([...dropped]);
    return isStored;
  }

  /** Null: the session is not to be kept any more. */
  #storeFill(fill: FillToStore): Promise<boolean | null> {
    const { sessionId } = fill;
    const filling = this.#filling.get(sessionId);
    const isToBeKept = () => this.#filling.get(sessionId) === filling;
    return this.#writes.run<boolean | null>(
      this.#counting(async (fills) => {
        if (!isToBeKept()) return null;
        const isStored = await this.#replica.storeFill({ ...fill, fills });
        if (isStored && fill.isLast) this.#storedFills++;
        return isStored;
      }),
      {
        makeRoom: async () => filling?.aim === "keep" && this.#makeRoom(),
        otherwise: async () => {
          await this.#replica.leaveOut([sessionId], "known");
          this.#foundNoRoom([sessionId]);
          return null;
        },
      },
    );
  }

  #foundNoRoom(sessionIds: readonly SessionId[]): void {
    if (this.#isOver) return;
    this.leave(sessionIds);
    this.#actions.outOfRoom(sessionIds);
  }

  #overtaken(): void {
    this.end();
    this.#actions.overtaken();
  }

  #nothingLeft(): void {
    if (this.#isCaughtUp) return;
    this.#isCaughtUp = true;
    this.#actions.caughtUp();
  }

  /** Also of a connection that is over: the next one compares what it finds with this. */
  async #noting(storing: Promise<boolean>, standing: Omit<Standing, "fills">): Promise<boolean> {
    let isStored = false;
    try {
      isStored = await storing;
    } finally {
      this.#stored = isStored ? standing : UNKNOWN;
    }
    return isStored;
  }

  #through(): void {
    this.#underWay--;
    if (this.#underWay > 0 || !this.#isLate) return;
    this.#isLate = false;
    this.#actions.storedLate();
  }

  #settle<T>(storing: Promise<T>, stored: (value: T) => void): void {
    this.#underWay++;
    storing
      .finally(() => this.#through())
      .then(
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
