// The contract of what a device keeps on disk: the replica (a cache of the daemon, rebuilt at will)
// and what is the device's own (its key, the pinned daemon, the outbox, drafts, choices), which is never dropped.
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
  /**
   * Fills that were finished since the last restart. A connection that knows of fewer is not sent the rows
   * of a session that another worker has made whole.
   */
  readonly fills: number;
  /** The sessions that are left out: what is held of their bodies is no whole. */
  readonly leftOut: readonly SessionId[];
}

/** Which connection writes, and what it takes the replica to be: of this epoch, with so many fills. */
export interface Writer {
  /** Unlike that of any other connection. */
  readonly connection: string;
  readonly epoch: string;
  readonly fills: number;
}

export interface PageToStore extends Writer {
  /** The cursor this page continues from. */
  readonly base: number;
  readonly changes: readonly Change[];
  /** Sessions whose bodies are left out from this page on. */
  readonly leftOut: readonly SessionId[];
  readonly upto: number;
  readonly token: string;
  readonly at: number;
}

/** A part of all bodies of a session that is left out. The session is whole once the last is stored. */
export interface FillToStore extends Writer {
  readonly sessionId: SessionId;
  readonly changes: readonly Change[];
  readonly cursor: number;
  /** The first is 0. */
  readonly part: number;
  readonly isLast: boolean;
}

/** Part of a session: some requests that follow each other, with their turns and tool results. */
export interface SessionWindow {
  /** False: the replica has no such session. */
  readonly found: boolean;
  /** False: it is left out, and `changes` holds what happens to be here. */
  readonly isWhole: boolean;
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
  /** Drops all rows and blobs; the feed of `epoch` will be read from its start, without these sessions' bodies. */
  restart(epoch: string, leftOut: readonly SessionId[]): Promise<void>;
  /**
   * Stores a page and its cursor in one transaction (F2), without the bodies of sessions that are left out
   * unless this connection fills them. False, with nothing written: the replica is not as the writer takes
   * it to be, or is behind `base`, because another worker restarted it or finished a fill.
   */
  storePage(page: PageToStore): Promise<boolean>;
  /**
   * Stores a part of a fill; with the first, what is held of the session's bodies goes. False, with nothing
   * written: the replica is not as the writer takes it to be, another connection fills the session, an
   * earlier part is missing, or the last is of another cursor than the replica's, so that the session would
   * not be as of that.
   */
  storeFill(fill: FillToStore): Promise<boolean>;
  /**
   * Marks sessions as left out; their bodies and blobs go. `known`: only those whose row is here, which may
   * have been deleted meanwhile; `all`: also those whose row is still to come.
   */
  leaveOut(sessionIds: readonly SessionId[], which: "known" | "all"): Promise<void>;
  /**
   * Takes so much room, if none is taken yet, for when there is no more. Some browsers give back the room of
   * what was removed only once more has been written, which takes room; that of one large record they give
   * back at once.
   */
  keepReserve(bytes: number): Promise<void>;
  /** Gives it back. False: there was none. */
  dropReserve(): Promise<boolean>;
  /** Every session, device, share and grant row. */
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
  /**
   * Marks an entry as sent and gives it as it is now, amended perhaps. Null: it is not there any more, or
   * refused: withdrawn or settled by another worker.
   */
  claimOutbox(commandId: CommandId): Promise<OutboxEntry | null>;
  /** Gives an entry that nobody has claimed other params. False, with nothing changed: it is not there or was claimed. */
  amendOutbox(commandId: CommandId, params: unknown): Promise<boolean>;
  /** Removes an entry that nobody has claimed, or that was refused. False, with nothing removed: it is not there or was claimed. */
  withdrawOutbox(commandId: CommandId): Promise<boolean>;
  removeOutbox(commandId: CommandId): Promise<void>;
}

export interface Drafts {
  draft(sessionId: SessionId): Promise<string>;
  /** An empty text removes the draft. */
  saveDraft(sessionId: SessionId, text: string): Promise<void>;
}

/** What to keep, chosen by a person. */
export interface Choices {
  /** StorageFacts.days. */
  keepDays(): Promise<number | null>;
  chooseKeepDays(days: number | null): Promise<void>;
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

export interface Replica extends ReplicaRows, OutboxStore, Drafts, Choices, Keyring {}

/** A write failed because the disk, or what the browser gives of it, is full. */
export const isOutOfRoom = (error: unknown): boolean =>
  error instanceof Error && error.name === "QuotaExceededError";

export class ReplicaError extends Error {
  override readonly name = "ReplicaError";
  /** `damaged`: what was read is no row of this version; a restart mends it. */
  readonly code: "damaged";

  constructor(code: "damaged", message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
