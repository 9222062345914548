// One connection's side of the feed: its greeting, its acks, what it watches, keeps and calls. It waits
// for nobody else's connection (F7). Rows are sent by its pump, live events by its live sender.

import { assertNever } from "../../shared/assert-never.ts";
import type { DeviceId, SessionId } from "../../shared/ids.ts";
import { HEARTBEAT_MS, LEFT_OUT_MAX } from "../../shared/limits.ts";
import type { ErrorCode } from "../../shared/protocol/errors.ts";
import type { ClientMessage } from "../../shared/protocol/messages.ts";
import type { Clock } from "../clock.ts";
import { type Log, traceOf } from "../log.ts";
import type { Store } from "../store/store.ts";
import type { Connection, ConnectionHandler, Peer } from "../transport/connection.ts";
import type { Calls } from "./calls.ts";
import { readMessage } from "./incoming.ts";
import type { LiveBoard } from "./live-board.ts";
import { LiveSender } from "./live-sender.ts";
import { type Deflate, PACKING } from "./pack-message.ts";
import { type Hello, judgePosition, type Position } from "./position.ts";
import type { Presence } from "./presence.ts";
import { Pump } from "./pump.ts";
import type { Scopes } from "./scopes.ts";
import type { ReadPage } from "./shared-pages.ts";
import { Sight } from "./sight.ts";

const WATCHES_MAX = 1_024;
/** Sessions that wait to be filled at a time. */
const FILLS_MAX = 1_024;

export interface SubscriberOptions {
  readonly connection: Connection;
  readonly store: Store;
  readonly board: LiveBoard;
  readonly presence: Presence;
  readonly readPage: ReadPage;
  readonly scopes: Scopes;
  readonly deflate: Deflate;
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
  readonly #sight: Sight;
  readonly #live: LiveSender;
  readonly #pump: Pump;
  #state: "new" | "greeting" | "greeted" | "closed" = "new";
  /** What came after the hello and before the welcome. */
  #early: ClientMessage[] = [];

  constructor(options: SubscriberOptions) {
    const { connection } = options;
    this.#options = options;
    this.#connection = connection;
    this.#sight = new Sight(viewerOf(connection.peer));
    this.#live = new LiveSender({ ...options, sight: this.#sight });
    this.#pump = new Pump({
      ...options,
      live: this.#live,
      sight: this.#sight,
      lookAgain: () => this.#lookAgain(),
      broke: (error) => this.#breakOff(error),
    });
  }

  /** The feed moved: a hint, which may come twice or too early. */
  wake(grantsMoved: boolean): void {
    if (this.#state !== "greeted") return;
    // What was taken from a viewer is gone for it at once, however far behind it is in reading.
    if (grantsMoved && this.#sight.viewer !== null) {
      this.#lookAgain().catch((error: unknown) => this.#breakOff(error));
    }
    this.#pump.wake();
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
    this.#state = "closed";
    this.#live.stop();
    this.#pump.stop();
    this.#options.onClosed();
  }

  get #isClosed(): boolean {
    return this.#state === "closed";
  }

  #handle(message: ClientMessage): void {
    if (message.type === "beat") return;
    if (message.type === "hello") this.#hello(message);
    else if (this.#state === "greeted") this.#act(message);
    else if (this.#state === "greeting") this.#early.push(message);
    else if (message.type === "call" && this.#connection.peer.kind === "local") this.#act(message);
    else {
      const id = message.type === "call" ? message.id : null;
      this.#fail("bad_message", `The message "${message.type}" came before the hello`, id);
    }
  }

  #act(message: Exclude<ClientMessage, { type: "hello" }>): void {
    switch (message.type) {
      case "call":
        void this.#options.calls.answer(message);
        break;
      case "ack":
        void this.#ack(message.cursor, message.token);
        break;
      case "watch":
        if (!this.#mayGo("watch", message.sessionId)) break;
        if (this.#live.watching.count >= WATCHES_MAX) {
          this.#fail("too_large", `No more than ${WATCHES_MAX} sessions can be watched`, null);
        } else this.#live.watch(message.sessionId, message.at);
        break;
      case "unwatch":
        this.#live.unwatch(message.sessionId);
        break;
      case "keep":
        if (!this.#mayGo("keep", message.sessionId)) break;
        if (this.#pump.fills.count >= FILLS_MAX) {
          this.#fail("too_large", `No more than ${FILLS_MAX} sessions can wait to be filled`, null);
        } else this.#keep(message.sessionId);
        break;
      case "leave":
        // Whatever it may see of it by now: the client waits for a page that says so.
        if (this.#sight.leftOutCount >= LEFT_OUT_MAX) {
          this.#fail("too_large", `No more than ${LEFT_OUT_MAX} sessions can be left out`, null);
        } else this.#pump.leave(message.sessionId);
        break;
      case "look":
        // A hint, whose session may just have been taken away: no reason to complain.
        this.#live.showPresence(message.sessionIds.filter((id) => this.#sight.maySee(id)));
        break;
      case "beat":
        break;
      default:
        assertNever(message);
    }
  }

  #hello(hello: Hello): void {
    const role = roleOf(this.#connection.peer);
    if (this.#state !== "new") this.#fail("bad_message", "A connection says hello once", null);
    else if (role === "guest") {
      this.#fail("not_allowed", `A ${role} has no sessions to see yet`, null);
    } else {
      this.#state = "greeting";
      this.#greet(hello).catch((error: unknown) => this.#breakOff(error));
    }
  }

  async #greet(hello: Hello): Promise<void> {
    const { store, scopes, daemon, clock } = this.#options;
    const { peer } = this.#connection;
    const deviceId = deviceOf(peer);
    await this.#sight.look(store);
    const maySee = (sessionId: SessionId) => this.#sight.maySee(sessionId);
    const leftOut = await scopes.leftOut(hello.scope, { now: clock.now(), maySee });
    const position = await this.#judge(hello, deviceId);
    if (this.#isClosed) return;
    const cursor = position === "known" ? hello.cursor : 0;
    if (position !== "known" && deviceId !== null) store.restartDevice(deviceId);
    // What was granted since comes as left out with the grant's page.
    for (const sessionId of [...leftOut, ...this.#sight.grantedAfter(cursor)]) {
      this.#sight.leaveOut(sessionId);
    }
    const { head } = store;
    this.#connection.send({
      type: "welcome",
      epoch: store.epoch,
      head,
      resync: position === "foreign",
      leftOut,
      deviceId,
      role: roleOf(peer),
      daemonName: daemon.name,
      daemonVersion: daemon.version,
      heartbeatMs: HEARTBEAT_MS,
      now: clock.now(),
    });
    for (const message of this.#early) {
      if (message.type !== "hello") this.#act(message);
    }
    this.#early = [];
    if (this.#isClosed) return;
    this.#state = "greeted";
    if (position !== "known") this.#live.watching.forgetPositions();
    if (cursor === head) this.#live.rowsAreHeld(head);
    this.#live.start();
    this.#pump.start({ cursor, head, canUnpack: hello.packings.includes(PACKING) });
  }

  async #judge(hello: Hello, deviceId: DeviceId | null): Promise<Position> {
    const { store, hasSibling } = this.#options;
    // Another tab of the same browser may just have acked what this one had not read when it wrote.
    const acked = deviceId === null || hasSibling() ? 0 : await store.deviceCursor(deviceId);
    return judgePosition(store, hello, { acked, viewer: this.#sight.viewer });
  }

  async #ack(cursor: number, token: string): Promise<void> {
    const { store } = this.#options;
    const deviceId = deviceOf(this.#connection.peer);
    if (deviceId === null) return;
    try {
      if (await store.knowsPosition(cursor, token, this.#sight.viewer)) {
        store.ackDevice(deviceId, cursor);
      } else {
        this.#fail("bad_message", `The ack of rev ${cursor} names no page of this feed`, null);
      }
    } catch (error) {
      this.#breakOff(error);
    }
  }

  #keep(sessionId: SessionId): void {
    this.#pump.fills.want(sessionId);
    this.#live.watching.startOver(sessionId);
    this.#pump.wake();
  }

  /** F9: says so if not. */
  #mayGo(what: "watch" | "keep", sessionId: SessionId): boolean {
    if (this.#sight.maySee(sessionId)) return true;
    this.#fail("not_allowed", `To ${what} a session takes a grant, and there is none`, null);
    return false;
  }

  async #lookAgain(): Promise<void> {
    const { lost, gained } = await this.#sight.look(this.#options.store);
    if (this.#isClosed) return;
    for (const sessionId of lost) {
      this.#pump.leaveOut(sessionId);
      if (!this.#sight.maySee(sessionId)) this.#live.lose(sessionId);
    }
    for (const sessionId of gained) {
      this.#pump.leaveOut(sessionId);
      this.#live.gain(sessionId);
    }
  }

  #fail(code: ErrorCode, message: string, id: number | null): void {
    const error = { code, message, retryable: false };
    this.#connection.send({ type: "failure", id, error });
  }

  /** After a failure of ours the connection would miss rows; closed, it catches up from its cursor. */
  #breakOff(error: unknown): void {
    if (this.#isClosed) return;
    const { log } = this.#options;
    log.error({ connection: this.#connection.id, trace: traceOf(error) }, "a feed broke off");
    this.#fail("internal", "The daemon could not read its feed; its log says more", null);
    this.#connection.close();
  }
}

const deviceOf = (peer: Peer): DeviceId | null => (peer.kind === "device" ? peer.deviceId : null);
const roleOf = (peer: Peer) => (peer.kind === "local" ? "owner" : peer.role);
const viewerOf = (peer: Peer): DeviceId | null =>
  roleOf(peer) === "viewer" ? deviceOf(peer) : null;
