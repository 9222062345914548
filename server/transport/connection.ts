// What the transport gives to what lies above it: admitted connections. Nothing above knows a socket.

import type { DeviceId } from "../../shared/ids.ts";
import type { Admission, Introduction } from "../../shared/protocol/handshake.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { DeviceRow } from "../../shared/protocol/rows.ts";

/** Whom a connection belongs to. `local`: the Unix socket; the operating system said who it is. */
export type Peer =
  | { kind: "device"; deviceId: DeviceId; role: DeviceRow["role"] }
  | { kind: "local" };

export interface Connection {
  readonly id: string;
  readonly peer: Peer;
  /** Bytes handed over and not yet taken by the operating system. */
  readonly queuedBytes: number;
  /**
   * Queues a message; messages leave in the order of the calls. Past CONNECTION_QUEUE_MAX_BYTES, or
   * ALL_QUEUES_MAX_BYTES over all connections for the largest queue, the connection is told
   * `evicted` and closed (F7). Does nothing once closed.
   */
  send(message: DaemonMessage): void;
  /** Resolves when fewer than PAGE_QUEUE_LOW_BYTES are queued, or when the connection has closed. */
  drained(): Promise<void>;
  /** Sends what is queued, then closes. */
  close(): void;
}

export interface ConnectionHandler {
  /** A decrypted, reassembled, decoded message: still of any shape. Called in the order received. */
  message(message: unknown): void;
  /** Bytes that were no MessagePack. The connection goes on. */
  undecodable(reason: string): void;
  /** Once, however the connection ended. */
  closed(): void;
}

/** Called for each connection once it is admitted. */
export type AcceptConnection = (connection: Connection) => ConnectionHandler;

/**
 * Decides who comes in, once a handshake has proved that the peer holds `publicKey`. Never throws for
 * a peer's fault: that is an Admission with outcome `refused`.
 */
export type Admit = (publicKey: Uint8Array, introduction: Introduction) => Promise<Admission>;
