// A connection without a socket: what is said on one side is encoded, decoded and checked like on the
// wire, and heard on the other at once, or when the test lets it through.

import { inflateRawSync } from "node:zlib";
import { PAGE_QUEUE_LOW_BYTES } from "../../shared/limits.ts";
import { decode, encode } from "../../shared/protocol/codec.ts";
import { type DaemonMessage, daemonMessageSchema } from "../../shared/protocol/messages.ts";
import type {
  AcceptConnection,
  Connection,
  ConnectionHandler,
  Peer,
} from "../transport/connection.ts";

export interface LinkedConnection {
  /** Everything that reached the client, in order, and unpacked. */
  readonly received: DaemonMessage[];
  /** How many messages came packed. */
  readonly packedCount: number;
  /** Bytes that wait for the client. */
  readonly queuedBytes: number;
  readonly isClosed: boolean;
  /** Says anything at all to the daemon. */
  say(message: unknown): void;
  sayGarbage(): void;
  /** The client reads nothing until `resume`. */
  stall(): void;
  resume(): void;
  /** Lets `count` waiting messages through; the rest stays. */
  take(count: number): void;
  /** The client is gone; what waited is lost. */
  cut(): void;
}

let connections = 0;

export function linkConnection(
  accept: AcceptConnection,
  peer: Peer,
  hear: (message: DaemonMessage) => void = () => {},
): LinkedConnection {
  const received: DaemonMessage[] = [];
  const waiting: Uint8Array[] = [];
  let waiters: (() => void)[] = [];
  let queuedBytes = 0;
  let packedCount = 0;
  let isStalled = false;
  let isClosed = false;

  const wakeWaiters = () => {
    if (queuedBytes >= PAGE_QUEUE_LOW_BYTES && !isClosed) return;
    const woken = waiters;
    waiters = [];
    for (const wake of woken) wake();
  };
  const take = (count: number) => {
    for (const bytes of waiting.splice(0, count)) {
      queuedBytes -= bytes.length;
      const message = unpacked(daemonMessageSchema.parse(decode(bytes)));
      received.push(message);
      hear(message);
    }
    wakeWaiters();
  };
  const unpacked = (message: DaemonMessage): DaemonMessage => {
    if (message.type !== "packed") return message;
    packedCount += 1;
    const plain = inflateRawSync(message.bytes, { maxOutputLength: message.size });
    if (plain.length !== message.size) throw new Error("A packed message has another size");
    return daemonMessageSchema.parse(decode(plain));
  };
  const cut = () => {
    if (isClosed) return;
    isClosed = true;
    waiting.length = 0;
    queuedBytes = 0;
    wakeWaiters();
    handler.closed();
  };

  connections += 1;
  const connection: Connection = {
    id: `connection-${connections}`,
    peer,
    get queuedBytes() {
      return queuedBytes;
    },
    send(message) {
      if (isClosed) return;
      const bytes = encode(message);
      waiting.push(bytes);
      queuedBytes += bytes.length;
      if (!isStalled) take(waiting.length);
    },
    drained() {
      if (queuedBytes < PAGE_QUEUE_LOW_BYTES || isClosed) return Promise.resolve();
      return new Promise((resolve) => waiters.push(resolve));
    },
    close() {
      take(waiting.length);
      cut();
    },
  };
  const handler: ConnectionHandler = accept(connection);

  return {
    received,
    get packedCount() {
      return packedCount;
    },
    get queuedBytes() {
      return queuedBytes;
    },
    get isClosed() {
      return isClosed;
    },
    say: (message) => handler.message(decode(encode(message))),
    sayGarbage: () => handler.undecodable("not MessagePack"),
    stall() {
      isStalled = true;
    },
    resume() {
      isStalled = false;
      take(waiting.length);
    },
    take,
    cut,
  };
}
