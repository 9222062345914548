// What this browser keeps: fetches sessions that were left out, one at a time unless someone waits, and
// lets the oldest leave when room runs low. What happens to their rows is the feed intake's affair.

import type { SessionId } from "../../shared/ids.ts";
import type { Clock } from "../clock.ts";
import type { FeedIntake, FetchAim } from "./feed-intake.ts";
import {
  budgetOf,
  hasSpareRoom,
  isOverBudget,
  type Known,
  knownFrom,
  nextToFetch,
  nextToLeave,
  type StorageEstimate,
} from "./keep-policy.ts";
import type { StorageFacts } from "./port.ts";
import { type Choices, isOutOfRoom, type ReplicaRows } from "./replica.ts";

/** What the browser says of this origin's storage. */
export interface Storage {
  /** Null where it does not say. */
  estimate(): Promise<StorageEstimate | null>;
  isPersisted(): Promise<boolean>;
}

export interface KeepingOptions {
  readonly replica: ReplicaRows & Choices;
  readonly storage: Storage;
  readonly clock: Clock;
  /** The present connection's; null while there is none. */
  readonly feed: () => FeedIntake | null;
  readonly isOpen: (sessionId: SessionId) => boolean;
  /** Connects anew, for the daemon to learn what was chosen. */
  readonly rechoose: () => Promise<void>;
  readonly report: (error: unknown) => void;
}

/** Nothing came for so long: there is time for what nobody waits for. */
const IDLE_MS = 1_000;
/** Taken while there is plenty, for what people write and for the feed to go on when there is none. */
const RESERVE_BYTES = 4 * 1_048_576;
/** Letting sessions leave so often has freed nothing: the browser takes its time. */
const VAIN_MAX = 3;
const REST_MS = 60_000;

export class Keeping {
  readonly #options: KeepingOptions;
  /** `modifiedAt` of sessions that found no room, or had to make some. */
  readonly #gaveUp = new Map<SessionId, number>();
  /** Something could not be stored for want of room. */
  #isFull = false;
  #makingRoom: Promise<boolean> | null = null;
  /** How often in a row sessions left and no fewer bytes were used. */
  #inVain = 0;
  #restUntil = 0;
  #cancelTending = () => {};

  constructor(options: KeepingOptions) {
    this.#options = options;
  }

  /** For what nobody has asked for. */
  async hasSpareRoom(): Promise<boolean> {
    if (this.#isFull) return false;
    const estimate = await this.#options.storage.estimate();
    return estimate === null || hasSpareRoom(estimate);
  }

  /** A page waits for this session, which the replica says is left out. */
  async want(sessionId: SessionId): Promise<void> {
    const { replica, feed, isOpen } = this.#options;
    const present = feed();
    if (present === null || present.aimOf(sessionId) === "keep") return;
    // Another worker may have left it out, which this connection does not know.
    if (!present.leftOut.has(sessionId)) await replica.leaveOut([sessionId], "known");
    if (feed() !== present || !isOpen(sessionId)) return;
    // One that was only shown has to come anew, and there is no more room for it than there was.
    const isShown = present.aimOf(sessionId) === "show";
    if (isShown || !present.leftOut.has(sessionId)) present.leave([sessionId]);
    present.fetch(sessionId, isShown ? "show" : "keep");
  }

  /** There is no room for these. Who waits for one is shown it all the same. */
  outOfRoom(sessionIds: readonly SessionId[]): void {
    const { feed, isOpen, replica, report } = this.#options;
    this.#isFull = true;
    for (const sessionId of sessionIds) {
      if (isOpen(sessionId)) feed()?.fetch(sessionId, "show");
    }
    replica.rail().then((rail) => this.#giveUp(knownFrom(rail), sessionIds), report);
  }

  fetched(sessionId: SessionId, aim: FetchAim): void {
    if (aim === "show" && !this.#options.isOpen(sessionId)) this.closed(sessionId);
    this.tendSoon();
  }

  /** What was only shown is of no use any more. */
  closed(sessionId: SessionId): void {
    const present = this.#options.feed();
    if (present?.aimOf(sessionId) === "show") present.leave([sessionId]);
    this.tendSoon();
  }

  /** Rows came, or a session was opened or closed: once it is quiet, sees what should come or leave. */
  tendSoon(): void {
    this.#cancelTending();
    this.#cancelTending = this.#options.clock.after(IDLE_MS, () => {
      this.#tend().catch(this.#options.report);
    });
  }

  /** False: nothing may leave any more. */
  makeRoom(): Promise<boolean> {
    this.#isFull = true;
    this.#makingRoom ??= this.#makeRoom().finally(() => {
      this.#makingRoom = null;
    });
    return this.#makingRoom;
  }

  async #makeRoom(): Promise<boolean> {
    const hadReserve = await this.#options.replica.dropReserve();
    // Also then: the reserve is for once.
    return (await this.#letLeave()) || hadReserve;
  }

  async facts(): Promise<StorageFacts> {
    const { replica, storage } = this.#options;
    const [days, estimate, isPersisted, { leftOut }] = await Promise.all([
      replica.keepDays(),
      storage.estimate(),
      storage.isPersisted(),
      replica.position(),
    ]);
    return {
      days,
      usedBytes: estimate?.usage ?? null,
      budgetBytes: estimate && budgetOf(estimate),
      isPersisted,
      leftOut: leftOut.length,
    };
  }

  async keepDays(days: number | null): Promise<StorageFacts> {
    const { replica, rechoose } = this.#options;
    await replica.chooseKeepDays(days);
    this.#gaveUp.clear();
    this.#isFull = false;
    this.#restUntil = 0;
    await rechoose();
    return this.facts();
  }

  async #tend(): Promise<void> {
    const { storage, replica, feed } = this.#options;
    const estimate = await storage.estimate();
    if (estimate !== null && isOverBudget(estimate)) {
      if ((await this.#letLeave()) && this.#inVain === 0) this.tendSoon();
      return;
    }
    if (estimate !== null && !this.#isFull && hasSpareRoom(estimate, RESERVE_BYTES)) {
      await this.#keepReserve();
    }
    const present = feed();
    if (present === null || present.isFetching || present.leftOut.size === 0) return;
    const [days, rail] = await Promise.all([replica.keepDays(), replica.rail()]);
    if (feed() !== present || present.isFetching) return;
    const next = nextToFetch(knownFrom(rail), {
      leftOut: present.leftOut,
      days,
      hasSpareRoom: await this.hasSpareRoom(),
      gaveUp: this.#gaveUp,
    });
    if (next !== null) present.fetch(next.id, next.isSpare ? "spare" : "keep");
  }

  async #keepReserve(): Promise<void> {
    try {
      await this.#options.replica.keepReserve(RESERVE_BYTES);
    } catch (error) {
      if (!isOutOfRoom(error)) throw error;
      this.#isFull = true;
    }
  }

  async #letLeave(): Promise<boolean> {
    const { replica, storage, clock, feed, isOpen } = this.#options;
    if (clock.now() < this.#restUntil) return false;
    const before = await storage.estimate();
    const [rail, { leftOut }] = await Promise.all([replica.rail(), replica.position()]);
    const known = knownFrom(rail);
    const isInUse = (id: SessionId) => isOpen(id) || feed()?.aimOf(id) !== undefined;
    const leaving = nextToLeave(known, new Set(leftOut), isInUse).map(({ id }) => id);
    try {
      for (const id of leaving) {
        // One by one: to remove much at once takes as much room for a while.
        await replica.leaveOut([id], "known");
        this.#giveUp(known, [id]);
        feed()?.leave([id]);
      }
    } catch (error) {
      if (isOutOfRoom(error)) return false;
      throw error;
    }
    if (leaving.length > 0) this.#judge(before, await storage.estimate());
    return leaving.length > 0;
  }

  #judge(before: StorageEstimate | null, after: StorageEstimate | null): void {
    const isVain = before !== null && after !== null && after.usage >= before.usage;
    this.#inVain = isVain ? this.#inVain + 1 : 0;
    if (this.#inVain < VAIN_MAX) return;
    this.#inVain = 0;
    this.#restUntil = this.#options.clock.now() + REST_MS;
  }

  #giveUp({ sessions }: Known, sessionIds: readonly SessionId[]): void {
    for (const { id, modifiedAt } of sessions) {
      if (sessionIds.includes(id)) this.#gaveUp.set(id, modifiedAt);
    }
  }
}
