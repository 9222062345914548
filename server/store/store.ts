// The store's contract: durable rows with revs, commands, blobs, saved streams. SQLite implements it
// today; PostgreSQL can tomorrow. No SQL and no driver type leaves `store/`.

import type { BlobHash, CommandId, DeviceId, SessionId } from "../../shared/ids.ts";
import type { Part } from "../../shared/protocol/live-events.ts";
import type { Change, RowByKind, RowKind, TextBody } from "../../shared/protocol/rows.ts";

/** A row with what its envelope says. */
export interface Stored<K extends RowKind> {
  readonly rev: number;
  readonly sessionId: SessionId | null;
  readonly id: string;
  readonly row: RowByKind[K];
}

export interface Committed<T> {
  readonly value: T;
  /** The feed's head once the transaction is durable; the rev of its last row, if it wrote any. */
  readonly head: number;
}

/** Which rows a page may hold (F9). Filtering is the store's, so that no page is short by surprise. */
export type Visibility = { kind: "everything" } | { kind: "session"; sessionId: SessionId };

export interface PageOfChanges {
  readonly changes: Change[];
  /** The cursor once these are applied: the head when nothing visible is left. */
  readonly upto: number;
  /** Identifies the state the page was made from (F4): a random secret, stored with its last commit. */
  readonly token: string;
  /** Visible rows left after this page. */
  readonly more: number;
}

export interface StoredCommand {
  readonly commandId: CommandId;
  readonly method: string;
  /** SHA-256 of the encoded params, hex: the same id with other params is a conflict. */
  readonly paramsHash: string;
  readonly answer: unknown;
}

/** What a running turn had said when it was last saved (F8). Outside the feed. */
export interface SavedStream {
  readonly sessionId: SessionId;
  readonly turnId: number;
  readonly parts: Readonly<Partial<Record<Part, string>>>;
}

export interface ReadTx {
  row<K extends RowKind>(
    kind: K,
    sessionId: SessionId | null,
    id: string,
  ): Promise<Stored<K> | null>;
  /** Live rows of a kind: of one session in the order of their ids' numbers or seq, else all in rev order. */
  rows<K extends RowKind>(kind: K, sessionId?: SessionId): Promise<Stored<K>[]>;
  command(commandId: CommandId): Promise<StoredCommand | null>;
  /** The whole of a text, fetched from its blob if it has one. Throws `StoreError` blob_missing. */
  wholeText(body: TextBody): Promise<string>;
}

export interface WriteTx extends ReadTx {
  /**
   * Writes a row's new state under the next rev and returns that rev. Blobs that the old state
   * referred to and the new one does not are released. Throws `StoreError` session_deleted for a
   * row of a session with a tombstone: a straggler cannot bring it back.
   */
  put<K extends RowKind>(
    kind: K,
    sessionId: SessionId | null,
    id: string,
    row: RowByKind[K],
  ): Promise<number>;
  /** Replaces a row by a tombstone. A session's tombstone takes all rows of that session with it. */
  remove(kind: RowKind, sessionId: SessionId | null, id: string): Promise<number>;
  /** Makes a body of a text; one over TEXT_INLINE_MAX_BYTES becomes a blob, kept while a row refers to it. */
  text(text: string): Promise<TextBody>;
  rememberCommand(command: StoredCommand, deviceId: DeviceId | null, at: number): Promise<void>;
  saveStream(stream: SavedStream): Promise<void>;
  dropStream(sessionId: SessionId, turnId: number): Promise<void>;
}

export interface Store extends ReadTx {
  /** The identity of this feed's history, made when the database was. */
  readonly epoch: string;
  /** The rev of the last committed row; 0 when there is none. */
  readonly head: number;
  /**
   * Runs `work` in one transaction; transactions run one after another. Revs are given in the order
   * of the calls. Resolves once durable, after every `onCommit` listener ran; rejects with nothing
   * written if `work` throws.
   */
  write<T>(work: (tx: WriteTx) => Promise<T>): Promise<Committed<T>>;
  /** Called after each transaction that moved the head, in order. Returns the disposer. */
  onCommit(listener: (head: number) => void): () => void;
  /** The changes after `after`, in rev order, within PAGE_MAX_ROWS and PAGE_MAX_BYTES (at least one). */
  page(after: number, visibility: Visibility): Promise<PageOfChanges>;
  /** True if this history has the state that a page up to `cursor` with this token was made from (F4). */
  knowsPosition(cursor: number, token: string): Promise<boolean>;
  /** The furthest cursor a device has acked; 0 if it never did. */
  deviceCursor(deviceId: DeviceId): Promise<number>;
  /** Moves a device's cursor forward; never back. May be durable only a second later: losing it costs nothing. */
  ackDevice(deviceId: DeviceId, cursor: number): void;
  /** The device starts over: its cursor is 0 again. As durable as `ackDevice`. */
  restartDevice(deviceId: DeviceId): void;
  /** Bytes of a blob from `offset`, at most `length`; null if there is no such blob. */
  readBlob(
    hash: BlobHash,
    offset: number,
    length: number,
  ): Promise<{ bytes: Uint8Array; size: number } | null>;
  savedStreams(): Promise<SavedStream[]>;
  /** Finishes what is under way and closes the database. */
  close(): Promise<void>;
}

export type StoreErrorCode =
  | "session_deleted"
  | "blob_missing"
  | "schema_too_new"
  | "driver_unusable"
  | "not_writable"
  | "corrupt"
  | "migration_failed";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
