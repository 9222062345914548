// The contract of what a device keeps on disk: the replica (a cache of the daemon, rebuilt at will)
// and what is the device's own (its key, the pinned daemon, the outbox, drafts), which is never dropped.
// Several workers may write at once: every write is idempotent and the cursor only moves forward.

import type { BlobHash, CommandId, SessionId } from "../../shared/ids.ts";
import type { KeyPair } from "../../shared/noise/noise-crypto.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import type { OutboxEntry } from "./port.ts";

/** Where this device stands in the feed. `epoch` null: it holds nothing. */
export interface Position {
  readonly epoch: string | null;
  readonly cursor: number;
  readonly token: string | null;
  /** When the last page was stored. */
  readonly syncedAt: number | null;
}

export interface PageToStore {
  readonly epoch: string;
  /** The cursor this page continues from. */
  readonly base: number;
  readonly changes: readonly Change[];
  readonly upto: number;
  readonly token: string;
  readonly at: number;
}

/** Part of a session: some requests that follow each other, with their turns and tool results. */
export interface SessionWindow {
  /** False: the replica has no such session. */
  readonly found: boolean;
  readonly changes: Change[];
  /** What to ask for next; null when nothing earlier is kept. */
  readonly earlier: WindowEdge | null;
}

/** The earliest request and turn already given. */
export interface WindowEdge {
  readonly seq: number;
  readonly turnId: number | null;
}

/** A blob that a kept row refers to and that is not kept yet. */
export interface WantedBlob {
  readonly hash: BlobHash;
  readonly sessionId: SessionId;
}

export interface ReplicaRows {
  position(): Promise<Position>;
  /** Drops all rows and blobs; the feed of `epoch` will be read from its start. */
  restart(epoch: string): Promise<void>;
  /**
   * Stores a page and its cursor in one transaction (F2). False, with nothing written: the replica
   * is of another epoch or behind `base`, because another worker restarted it.
   */
  storePage(page: PageToStore): Promise<boolean>;
  /** Every session and device row. */
  rail(): Promise<Change[]>;
  /** The session row with the last `count` requests before `before`, or the last of all. */
  window(sessionId: SessionId, count: number, before: WindowEdge | null): Promise<SessionWindow>;
  blob(hash: BlobHash): Promise<Uint8Array | null>;
  wantedBlobs(limit: number): Promise<WantedBlob[]>;
  /** Keeps a blob for every session that wants it; it is then no longer wanted. */
  keepBlob(hash: BlobHash, bytes: Uint8Array): Promise<void>;
  /** The daemon has it no more, or it is damaged there. */
  giveUpBlob(wanted: WantedBlob): Promise<void>;
  /** Drops the blobs that no row names any more. */
  dropUnusedBlobs(): Promise<void>;
}

export interface OutboxStore {
  /** In the order written. What cannot be read is left out, and left alone. */
  outbox(): Promise<OutboxEntry[]>;
  putOutbox(entry: OutboxEntry): Promise<void>;
  /** Marks an entry as sent. False: it is not there any more, withdrawn or settled by another worker. */
  claimOutbox(commandId: CommandId): Promise<boolean>;
  /** Removes an entry that nobody has claimed. False, with nothing removed: it is not there or was claimed. */
  withdrawOutbox(commandId: CommandId): Promise<boolean>;
  removeOutbox(commandId: CommandId): Promise<void>;
}

export interface Drafts {
  draft(sessionId: SessionId): Promise<string>;
  /** An empty text removes the draft. */
  saveDraft(sessionId: SessionId, text: string): Promise<void>;
}

export interface Keyring {
  /** This device's key pair: the stored one, else a new one, stored; the same for all who ask. */
  deviceKeys(make: () => KeyPair): Promise<KeyPair>;
  pinnedDaemon(): Promise<Uint8Array | null>;
  /** Pins the key, or with null none; what was noted as offered is forgotten. */
  pinDaemon(publicKey: Uint8Array | null): Promise<void>;
  /** The fingerprint of a changed key that was shown and not settled yet. */
  offeredDaemon(): Promise<string | null>;
  noteOffered(fingerprint: string): Promise<void>;
}

export interface Replica extends ReplicaRows, OutboxStore, Drafts, Keyring {}

export class ReplicaError extends Error {
  override readonly name = "ReplicaError";
  /** `damaged`: what was read is no row of this version; a restart mends it. */
  readonly code: "damaged";

  constructor(code: "damaged", message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
