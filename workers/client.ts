// Typed proxies of the workers: all that web/ may import from workers/.

import type { SessionId } from "../shared/ids.ts";
import type { CommandMethod, Params, QueryMethod, Result } from "../shared/protocol/methods.ts";
import type { TextBody } from "../shared/protocol/rows.ts";
import type { BlockPatch, DocumentKey } from "./render/port.ts";
import type { SyncMessage } from "./sync/port.ts";

export type { BlockPatch, DocumentKey } from "./render/port.ts";
export type { ConnectionState, LostBecause, OutboxEntry, SyncMessage } from "./sync/port.ts";

/** What `value` and `failure` answer is settled inside; everything else is the listener's. */
export type SyncEvent = Exclude<SyncMessage, { type: "value" } | { type: "failure" }>;

export interface WorkersClient {
  /** Hears everything the sync worker says to this page, from the first message on. Call once. */
  listen(listener: (event: SyncEvent) => void): void;
  open(sessionId: SessionId): void;
  close(sessionId: SessionId): void;
  earlier(sessionId: SessionId): void;
  /** Rejects with a `Failure`; at once with `retryable: true` while there is no live connection. */
  query<M extends QueryMethod>(method: M, params: Params<M>): Promise<Result<M>>;
  /**
   * Stores the command in the outbox, sends it once there is a connection, and again after a lost one
   * (F5). Resolves with the daemon's answer, however late; rejects with the daemon's `Failure`.
   * `commandId` names what it makes (session, request) and is known before the answer.
   */
  command<M extends CommandMethod>(
    method: M,
    params: Params<M>,
  ): { commandId: string; answer: Promise<Result<M>> };
  /** The whole of a text: from the row, from IndexedDB, else from the daemon. */
  text(body: TextBody): Promise<string>;
  saveDraft(sessionId: SessionId, text: string): void;
  enrol(secret: string): void;
  /** Shows a document's blocks until disposed; the first patch holds all blocks there are. */
  show(key: DocumentKey, listener: (patch: BlockPatch) => void): () => void;
  settle(key: DocumentKey, text: string): void;
}
