// Sends one connection its rows: pages until there is nothing newer, and between them the parts of the
// sessions it wants filled. Nothing is read for a connection that has not taken what it was sent (F7).

import type { SessionId } from "../../shared/ids.ts";
import { PAGE_QUEUE_LOW_BYTES } from "../../shared/limits.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Clock } from "../clock.ts";
import type { Store } from "../store/store.ts";
import type { Connection } from "../transport/connection.ts";
import { type FillMessage, Fills } from "./fills.ts";
import type { LiveBoard } from "./live-board.ts";
import type { LiveSender } from "./live-sender.ts";
import { type Deflate, packMessage } from "./pack-message.ts";
import type { FeedPage, ReadPage } from "./shared-pages.ts";
import type { Sight } from "./sight.ts";

/** A page with nothing in it goes only this often, lest the client be far behind when it comes again. */
const EMPTY_PAGE_STEP_REVS = 4_096;

/** The store answers in the same turn of the event loop: after so long others get theirs (F7). */
const TURN_MAX_MS = 8;

export interface PumpOptions {
  readonly connection: Connection;
  readonly store: Store;
  readonly board: LiveBoard;
  readonly live: LiveSender;
  readonly sight: Sight;
  readonly readPage: ReadPage;
  readonly deflate: Deflate;
  readonly clock: Clock;
  /** Brings what the connection may see up to date with what was just read. */
  readonly lookAgain: () => Promise<void>;
  /** The connection would miss rows from here on. */
  readonly broke: (error: unknown) => void;
}

export class Pump {
  readonly #options: PumpOptions;
  readonly fills: Fills;
  #state: "waiting" | "idle" | "running" | "stopped" = "waiting";
  /** How far the feed was read for this connection. */
  #cursor = 0;
  /** How far the client is once it has stored what it was sent. */
  #sentCursor = 0;
  /** The client was last told that there is more. */
  #owesLast = false;
  /**
   * Sessions the client left. It may have started over since, or want one again while parts of it are on their
   * way: so the next page says from where on they are left out.
   */
  readonly #left = new Set<SessionId>();
  #turnBeganAt = 0;
  /** Read and not worth sending by itself. */
  #unsent: FeedPage | null = null;
  #canUnpack = false;

  constructor(options: PumpOptions) {
    this.#options = options;
    this.fills = new Fills(options.sight, options.store);
  }

  /** `head`: as the client was told. */
  start({ cursor, head, canUnpack }: { cursor: number; head: number; canUnpack: boolean }): void {
    this.#cursor = cursor;
    this.#sentCursor = cursor;
    this.#owesLast = cursor < head;
    this.#canUnpack = canUnpack;
    this.#state = "idle";
    this.wake();
  }

  stop(): void {
    this.#state = "stopped";
  }

  /** From now on the session's bodies are not sent, and what was asked of them is void. */
  leaveOut(sessionId: SessionId): void {
    const { sight, live } = this.#options;
    this.fills.drop(sessionId);
    sight.leaveOut(sessionId);
    live.watching.startOver(sessionId);
  }

  /** The same, because the client says so. */
  leave(sessionId: SessionId): void {
    this.leaveOut(sessionId);
    this.#left.add(sessionId);
    this.wake();
  }

  /** There may be something to send: a hint, which may come twice or too early. */
  wake(): void {
    if (this.#state === "idle") void this.#run();
  }

  get #isStopped(): boolean {
    return this.#state === "stopped";
  }

  get #owesPage(): boolean {
    return this.#cursor < this.#options.store.head || this.#left.size > 0;
  }

  /** A wake-up during a run is not lost: what there is to send is looked at last. */
  async #run(): Promise<void> {
    this.#state = "running";
    this.#turnBeganAt = this.#options.clock.now();
    try {
      while (!this.#isStopped && (this.#owesPage || this.fills.count > 0)) {
        if (this.#owesPage) await this.#sendPage();
        if (this.fills.count > 0) await this.#sendPartOfFill();
      }
    } catch (error) {
      if (!this.#isStopped) this.#options.broke(error);
    } finally {
      if (!this.#isStopped) this.#state = "idle";
    }
  }

  /** Resolves when it is this connection's turn and there is room for more. */
  async #takeTurn(): Promise<void> {
    const { connection, clock } = this.#options;
    if (connection.queuedBytes >= PAGE_QUEUE_LOW_BYTES) await connection.drained();
    else if (clock.now() - this.#turnBeganAt >= TURN_MAX_MS) await nextTurn(clock);
    else return;
    this.#turnBeganAt = clock.now();
  }

  async #sendPage(): Promise<void> {
    const { readPage, sight, live, board, lookAgain } = this.#options;
    await this.#takeTurn();
    if (this.#isStopped) return;
    const page = await readPage(this.#cursor, sight);
    if (sight.viewer !== null && movesGrants(page)) await lookAgain();
    if (page.stored.some(({ sessionId }) => board.hasSession(sessionId))) {
      board.noteRows(page.changes);
    }
    const isWanted =
      page.stored.length > 0 ||
      this.#left.size > 0 ||
      (this.#owesLast && page.more === 0) ||
      page.upto - this.#sentCursor >= EMPTY_PAGE_STEP_REVS;
    this.#unsent = page;
    this.#cursor = page.upto;
    if (isWanted) await this.#sendUnsent();
    if (this.#isStopped) return;
    for (const { kind, row, sessionId } of page.stored) {
      if (kind === "session" && row === null && sessionId !== null) sight.forget(sessionId);
    }
    if (page.more > 0) return;
    sight.rowsAreHeld(page.upto);
    live.rowsAreHeld(page.upto);
  }

  async #sendUnsent(): Promise<void> {
    const page = this.#unsent;
    if (page === null) return;
    this.#unsent = null;
    if (this.#canUnpack) this.#packAhead(page);
    const left = [...this.#left];
    this.#left.clear();
    const message = await this.#finished(page, left);
    if (this.#isStopped) return;
    for (const sessionId of page.granted) this.leaveOut(sessionId);
    this.#options.connection.send(message);
    this.#sentCursor = page.upto;
    this.#owesLast = page.more > 0;
  }

  /** The next page is read while this one is being packed, which takes about as long, on another thread. */
  #packAhead(page: FeedPage): void {
    const { sight, readPage } = this.#options;
    const { visibility } = sight;
    // Only what is shared is still there when it is wanted.
    if (page.more === 0 || visibility.viewer !== null || visibility.leftOut.size > 0) return;
    readPage(page.upto, sight)
      .then((next) => next.packed())
      .catch(() => {}); // Whoever is to send it hears of it.
  }

  /** `left`: what the page says to be left out besides. */
  async #finished(page: FeedPage, left: readonly SessionId[]): Promise<DaemonMessage> {
    if (left.length === 0) return this.#canUnpack ? page.packed() : page.message;
    const message = { ...page.message, leftOut: [...page.granted, ...left] };
    return this.#pack(message);
  }

  async #pack(message: DaemonMessage): Promise<DaemonMessage> {
    return this.#canUnpack ? packMessage(message, this.#options.deflate) : message;
  }

  async #sendPartOfFill(): Promise<void> {
    const { connection, board, live } = this.#options;
    await this.#takeTurn();
    if (this.#isStopped) return;
    // The first part holds what pages have passed over: the client has to be where they are.
    await this.#sendUnsent();
    // What was left meanwhile is said before anything more of it comes.
    if (this.#isStopped || this.#left.size > 0) return;
    const pack = (part: FillMessage) => this.#pack(part);
    await this.fills.sendNext(this.#sentCursor, pack, (part, message) => {
      if (this.#isStopped) return;
      board.noteRows(part.changes);
      connection.send(message);
    });
    live.look();
  }
}

const nextTurn = (clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    clock.after(0, resolve);
  });

/** Whether what a viewer may see is no longer what it was before this page. */
const movesGrants = ({ granted, stored }: FeedPage): boolean =>
  granted.length > 0 || stored.some(({ kind, row }) => kind === "session" && row === null);
