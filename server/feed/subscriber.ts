// One connection's side of the feed: its greeting, the pump that sends it pages, its acks, what it
// watches and what it calls. It waits for nobody else's connection (F7).

import { assertNever } from "../../shared/assert-never.ts";
import { HEARTBEAT_MS } from "../../shared/limits.ts";
import type { ErrorCode } from "../../shared/protocol/errors.ts";
import type { ClientMessage } from "../../shared/protocol/messages.ts";
import type { Clock } from "../clock.ts";
import { type Log, traceOf } from "../log.ts";
import type { Store, Visibility } from "../store/store.ts";
import type { Connection, ConnectionHandler } from "../transport/connection.ts";
import type { Calls } from "./calls.ts";
import { readMessage } from "./incoming.ts";
import type { LiveBoard } from "./live-board.ts";
import { LiveSender } from "./live-sender.ts";
import { type Hello, judgePosition } from "./position.ts";
import type { ReadPage } from "./shared-pages.ts";

const WATCHES_MAX = 1_024;
const EVERYTHING: Visibility = { kind: "everything" };

export interface SubscriberOptions {
  readonly connection: Connection;
  readonly store: Store;
  readonly board: LiveBoard;
  readonly readPage: ReadPage;
  readonly calls: Calls;
  readonly clock: Clock;
  readonly log: Log;
  readonly daemon: { readonly name: string; readonly version: string };
  /** Whether another connection of the same device is open. */
  readonly hasSibling: () => boolean;
  readonly onClosed: () => void;
}

export class Subscriber implements ConnectionHandler {
  readonly #options: SubscriberOptions;
  readonly #connection: Connection;
  readonly #live: LiveSender;
  /** Null until there was a hello; settled once the welcome was sent. */
  #greeting: Promise<void> | null = null;
  #isWelcomed = false;
  #isClosed = false;
  /** `upto` of the last page sent. */
  #cursor = 0;
  #owesPage = false;
  #isPumping = false;

  constructor(options: SubscriberOptions) {
    this.#options = options;
    this.#connection = options.connection;
    this.#live = new LiveSender(options.connection, options.board, options.clock);
  }

  /** The feed moved: a hint, which may come twice or too early. */
  wake(): void {
    if (this.#isWelcomed && !this.#isPumping) void this.#pump();
  }

  message(message: unknown): void {
    if (this.#isClosed) return;
    const read = readMessage(message);
    if (read.kind === "bad") this.#fail(read.code, read.message, read.id);
    else this.#handle(read.message);
  }

  undecodable(reason: string): void {
    this.#fail("bad_message", `A message could not be decoded: ${reason}`, null);
  }

  closed(): void {
    this.#isClosed = true;
    this.#live.stop();
    this.#options.onClosed();
  }

  #handle(message: ClientMessage): void {
    if (message.type === "beat") return;
    if (message.type === "hello") {
      this.#hello(message);
      return;
    }
    if (this.#greeting === null && !(message.type === "call" && this.#isLocal)) {
      const id = message.type === "call" ? message.id : null;
      this.#fail("bad_message", `The message "${message.type}" came before the hello`, id);
      return;
    }
    switch (message.type) {
      case "call":
        // Not before the welcome, which a client may wait for to know whom it talks to.
        void (this.#greeting ?? Promise.resolve()).then(() => this.#options.calls.answer(message));
        break;
      case "ack":
        void this.#ack(message.cursor, message.token);
        break;
      case "watch":
        if (this.#live.watching.count >= WATCHES_MAX) {
          this.#fail("too_large", `No more than ${WATCHES_MAX} sessions can be watched`, null);
          break;
        }
        this.#live.watching.watch(message.sessionId, message.at);
        this.#live.look();
        break;
      case "unwatch":
        this.#live.watching.unwatch(message.sessionId);
        break;
      default:
        assertNever(message);
    }
  }

  get #isLocal(): boolean {
    return this.#connection.peer.kind === "local";
  }

  get #role() {
    const { peer } = this.#connection;
    return peer.kind === "local" ? "owner" : peer.role;
  }

  #hello(hello: Hello): void {
    if (this.#greeting !== null) {
      this.#fail("bad_message", "A connection says hello once", null);
      return;
    }
    if (this.#role !== "owner") {
      this.#fail("not_allowed", `A ${this.#role} has no sessions to see yet`, null);
      return;
    }
    this.#greeting = this.#greet(hello).catch((error: unknown) => this.#breakOff(error));
  }

  async #greet(hello: Hello): Promise<void> {
    const { store, daemon, hasSibling } = this.#options;
    const { peer } = this.#connection;
    const deviceId = peer.kind === "device" ? peer.deviceId : null;
    // Another tab of the same browser may just have acked what this one had not read when it wrote.
    const acked = deviceId === null || hasSibling() ? 0 : await store.deviceCursor(deviceId);
    const position = await judgePosition(store, hello, acked);
    if (this.#isClosed) return;
    this.#cursor = position.kind === "known" ? position.cursor : 0;
    if (position.kind !== "known") {
      if (deviceId !== null) store.restartDevice(deviceId);
      this.#live.watching.forgetPositions();
    }
    const { head } = store;
    this.#connection.send({
      type: "welcome",
      epoch: store.epoch,
      head,
      resync: position.kind === "foreign",
      deviceId,
      role: this.#role,
      daemonName: daemon.name,
      daemonVersion: daemon.version,
      heartbeatMs: HEARTBEAT_MS,
    });
    this.#isWelcomed = true;
    this.#owesPage = this.#cursor < head;
    if (!this.#owesPage) this.#live.rowsAreHeld(head);
    this.#live.start();
    this.wake();
  }

  async #ack(cursor: number, token: string): Promise<void> {
    const { store } = this.#options;
    const { peer } = this.#connection;
    if (peer.kind !== "device") return;
    try {
      await this.#greeting;
      if (await store.knowsPosition(cursor, token)) store.ackDevice(peer.deviceId, cursor);
      else this.#fail("bad_message", `The ack of rev ${cursor} names no page of this feed`, null);
    } catch (error) {
      this.#breakOff(error);
    }
  }

  /** Sends pages until there is nothing newer. A wake-up during a run is not lost: the head is looked at last. */
  async #pump(): Promise<void> {
    const { store, readPage, board } = this.#options;
    this.#isPumping = true;
    try {
      while (!this.#isClosed && this.#cursor < store.head) {
        await this.#connection.drained();
        if (this.#isClosed) break;
        const page = await readPage(this.#cursor, EVERYTHING);
        if (this.#isClosed) break;
        board.noteRows(page.changes);
        if (page.changes.length > 0 || this.#owesPage) this.#connection.send(page.message);
        this.#owesPage = false;
        this.#cursor = page.upto;
        if (page.more === 0) this.#live.rowsAreHeld(page.upto);
      }
    } catch (error) {
      this.#breakOff(error);
    } finally {
      this.#isPumping = false;
    }
  }

  #fail(code: ErrorCode, message: string, id: number | null): void {
    const error = { code, message, retryable: false };
    this.#connection.send({ type: "failure", id, error });
  }

  /** After a failure of ours the connection would miss rows; closed, it catches up from its cursor. */
  #breakOff(error: unknown): void {
    const { log } = this.#options;
    log.error({ connection: this.#connection.id, trace: traceOf(error) }, "a feed broke off");
    this.#fail("internal", "The daemon could not read its feed; its log says more", null);
    this.#connection.close();
  }
}
