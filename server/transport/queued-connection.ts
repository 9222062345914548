// One admitted connection: the queue of what it is to be told, in bytes (F7), its heartbeat, and its
// end. Messages wait here in the clear and go to the socket a little at a time, so that an eviction
// can be said before the backlog instead of after it.

import { HEARTBEAT_MS, HEARTBEATS_MISSED_MAX, PAGE_QUEUE_LOW_BYTES } from "../../shared/limits.ts";
import type { CloseReason } from "../../shared/protocol/close-codes.ts";
import { CodecError, decode } from "../../shared/protocol/codec.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Clock } from "../clock.ts";
import { type Log, traceOf } from "../log.ts";
import type { AcceptConnection, Connection, ConnectionHandler, Peer } from "./connection.ts";
import type { EncodeMessage } from "./encode-message.ts";
import type { QueueBudget } from "./queue-budget.ts";
import type { Wire } from "./wire.ts";

/** What the socket may hold of a connection's queue. */
const IN_FLIGHT_MAX_BYTES = 1024 * 1024;
/** How long a peer that is being told goodbye may take to read it. */
const CLOSE_MAX_MS = 5_000;
const SILENCE_MAX_MS = HEARTBEAT_MS * HEARTBEATS_MISSED_MAX;

export interface QueuedConnectionOptions {
  readonly id: string;
  readonly peer: Peer;
  readonly wire: Wire;
  readonly budget: QueueBudget;
  readonly encode: EncodeMessage;
  readonly clock: Clock;
  readonly log: Log;
  /** Off where the operating system tells at once when the peer is gone. */
  readonly hasHeartbeat: boolean;
  /** Once, when the socket is gone. */
  readonly onEnded: () => void;
}

/** open → closing (the queue is still being sent) → ended (nothing more is). */
type State = "open" | "closing" | "ended";

export class QueuedConnection implements Connection {
  readonly id: string;
  readonly peer: Peer;
  readonly #wire: Wire;
  readonly #budget: QueueBudget;
  readonly #encode: EncodeMessage;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #onEnded: () => void;
  #handler: ConnectionHandler | null = null;
  #state: State = "open";
  #closeReason: CloseReason = "done";
  #waiting: Uint8Array[] = [];
  /** Index of the next of `#waiting` to go. */
  #next = 0;
  #queuedBytes = 0;
  #inFlightBytes = 0;
  #isGone = false;
  #drainWaiters: (() => void)[] = [];
  #sentAt: number;
  #receivedAt: number;
  #stopHeartbeat = () => {};
  #stopClosing = () => {};

  constructor(options: QueuedConnectionOptions) {
    this.id = options.id;
    this.peer = options.peer;
    this.#wire = options.wire;
    this.#budget = options.budget;
    this.#encode = options.encode;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#onEnded = options.onEnded;
    this.#sentAt = this.#clock.now();
    this.#receivedAt = this.#sentAt;
    this.#budget.add(this);
    if (options.hasHeartbeat) this.#watchHeart();
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** To be called once, right after construction. */
  accept(accept: AcceptConnection): void {
    const handler = accept(this);
    if (this.#state === "ended") queueMicrotask(() => handler.closed());
    else this.#handler = handler;
  }

  send(message: DaemonMessage): void {
    if (this.#state !== "open") return;
    const bytes = this.#encode(message);
    this.#waiting.push(bytes);
    this.#queuedBytes += bytes.length;
    this.#budget.grown(this, bytes.length);
    this.#pump();
  }

  drained(): Promise<void> {
    if (this.#isDrained()) return Promise.resolve();
    return new Promise((resolve) => this.#drainWaiters.push(resolve));
  }

  close(reason: CloseReason = "done"): void {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#closeReason = reason;
    // What is queued may take its time as long as the peer reads; the heartbeat finds one that is gone.
    this.#stopClosing = this.#clock.after(SILENCE_MAX_MS, () => this.#wire.destroy());
    this.#pump();
  }

  /** F7: drops the backlog, says so, and closes. */
  evict(): void {
    const queuedBytes = this.#queuedBytes;
    this.#log.warn(
      { connection: this.id, queuedBytes },
      "Evicted a connection that reads too slowly",
    );
    this.#endWith({ type: "evicted", queuedBytes }, "evicted");
  }

  /** Drops the backlog, says why the peer may not go on, and closes. */
  expel(error: WireError): void {
    this.#endWith({ type: "failure", id: null, error }, "revoked");
  }

  /** Ends it now, saying nothing. */
  destroy(): void {
    this.#wire.destroy();
  }

  /** The socket got bytes, whatever they are. */
  heard(): void {
    this.#receivedAt = this.#clock.now();
  }

  /** A whole message came. */
  receive(bytes: Uint8Array): void {
    if (this.#state !== "open") return;
    let message: unknown;
    try {
      message = decode(bytes);
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      this.#handler?.undecodable(error.message);
      return;
    }
    if (isBeat(message)) return;
    try {
      this.#handler?.message(message);
    } catch (error) {
      this.#log.error({ connection: this.id, trace: traceOf(error) }, "A message met a bug");
      this.destroy();
    }
  }

  /** The socket is closed, by whomever, or will never say anything true again. */
  ended(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#stopClosing();
    this.#end();
    this.#budget.remove(this);
    this.#release(this.#queuedBytes);
    this.#onEnded();
  }

  #pump(): void {
    while (this.#state !== "ended" && this.#inFlightBytes < IN_FLIGHT_MAX_BYTES) {
      const bytes = this.#waiting[this.#next];
      if (bytes === undefined) break;
      this.#next += 1;
      if (this.#next === this.#waiting.length) {
        this.#waiting = [];
        this.#next = 0;
      } else if (this.#next > 1_024) {
        this.#waiting = this.#waiting.slice(this.#next);
        this.#next = 0;
      }
      this.#write(bytes);
    }
    if (this.#state === "closing" && this.#waiting.length === 0) this.#sayGoodbye();
  }

  #write(bytes: Uint8Array): void {
    this.#sentAt = this.#clock.now();
    this.#inFlightBytes += bytes.length;
    this.#wire.write(bytes, () => {
      this.#inFlightBytes -= bytes.length;
      if (this.#isGone) return;
      this.#release(bytes.length);
      if (this.#isDrained()) this.#tellDrained();
      this.#pump();
    });
  }

  #sayGoodbye(): void {
    this.#state = "ended";
    this.#stopHeartbeat();
    this.#stopClosing();
    this.#stopClosing = this.#clock.after(CLOSE_MAX_MS, () => this.#wire.destroy());
    this.#wire.close(this.#closeReason);
  }

  #endWith(last: DaemonMessage, reason: CloseReason): void {
    if (this.#state === "ended") return;
    this.#release(this.#queuedBytes - this.#inFlightBytes);
    this.#budget.remove(this);
    this.#end();
    const bytes = this.#encode(last);
    this.#queuedBytes += bytes.length;
    this.#budget.grown(this, bytes.length);
    this.#write(bytes);
    this.#closeReason = reason;
    this.#sayGoodbye();
  }

  /** Nothing more is sent or heard; those above are told, after the call that is under way. */
  #end(): void {
    this.#state = "ended";
    this.#stopHeartbeat();
    this.#waiting = [];
    this.#next = 0;
    this.#tellDrained();
    const handler = this.#handler;
    this.#handler = null;
    if (handler) queueMicrotask(() => handler.closed());
  }

  #release(bytes: number): void {
    this.#queuedBytes -= bytes;
    this.#budget.shrunk(bytes);
  }

  #isDrained(): boolean {
    return this.#state === "ended" || this.#queuedBytes < PAGE_QUEUE_LOW_BYTES;
  }

  #tellDrained(): void {
    const waiters = this.#drainWaiters;
    this.#drainWaiters = [];
    for (const resolve of waiters) resolve();
  }

  #watchHeart(): void {
    const now = this.#clock.now();
    if (now - this.#receivedAt >= SILENCE_MAX_MS) {
      this.#log.info({ connection: this.id }, "Closing a connection that fell silent");
      this.#closeReason = "silent";
      this.#release(this.#queuedBytes - this.#inFlightBytes);
      this.#end();
      this.#sayGoodbye();
      return;
    }
    const isIdle = this.#waiting.length === 0;
    if (isIdle && now - this.#sentAt >= HEARTBEAT_MS) this.send({ type: "beat" });
    if (this.#state === "ended") return;
    const wait = Math.min(
      this.#sentAt + HEARTBEAT_MS - now,
      this.#receivedAt + SILENCE_MAX_MS - now,
    );
    // A reader that is behind has been sent nothing for long, yet needs no beat on top.
    this.#stopHeartbeat = this.#clock.after(wait > 0 ? wait : HEARTBEAT_MS, () =>
      this.#watchHeart(),
    );
  }
}

function isBeat(message: unknown): boolean {
  return (
    typeof message === "object" && message !== null && "type" in message && message.type === "beat"
  );
}
