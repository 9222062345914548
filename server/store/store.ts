// The store's contract: durable rows with revs, commands, blobs, saved streams. SQLite implements it
// today; PostgreSQL can tomorrow. No SQL and no driver type leaves `store/`.

import type { BlobHash, CommandId, DeviceId, SessionId } from "../../shared/ids.ts";
import type { Encoded } from "../../shared/protocol/codec.ts";
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

/** A transaction that moved the head. */
export interface Commit {
  readonly head: number;
  /** Of the rows it wrote. */
  readonly kinds: ReadonlySet<string>;
}

/** Which rows a page may hold (F9). */
export interface Visibility {
  /** Null: an owner, who sees all. A viewer sees its own device and the sessions granted to it. */
  readonly viewer: DeviceId | null;
  /** Sessions whose bodies (BODY_KINDS) are left out. */
  readonly leftOut: ReadonlySet<SessionId>;
}

export const EVERYTHING: Visibility = { viewer: null, leftOut: new Set() };

/** A change whose row is as it was stored: it was checked then, and is not looked into again. */
export interface StoredChange {
  readonly rev: number;
  readonly kind: string;
  readonly sessionId: SessionId | null;
  readonly id: string;
  readonly row: Encoded | null;
}

export interface PageOfChanges {
  /** What is handed on: decoding and encoding again would take most of a page's time. */
  readonly stored: readonly StoredChange[];
  /** The same, decoded and checked when it is asked for. Throws a `StoreError` if a row has not its shape. */
  readonly changes: readonly Change[];
  /** The cursor once these are applied: the head when nothing visible is left. A page may be empty before that. */
  readonly upto: number;
  /** Identifies the state the page was made from (F4): a random secret, stored with its last commit. */
  readonly token: string;
  /** Revs left up to the head, visible or not. */
  readonly more: number;
  /** For a viewer: sessions that become visible with this page. Only their own rows are in it, no bodies. */
  readonly granted: readonly SessionId[];
}

export type SessionChange = Extract<Change, { kind: "session" }>;

/** Where to read on in a session's bodies. */
export interface BodiesRange {
  readonly sessionId: SessionId;
  /** Revs above this, up to `upto`. */
  readonly after: number;
  readonly upto: number;
}

export interface PartOfBodies {
  /** As they are now: a row that has moved beyond `upto` is not among them. */
  readonly changes: Change[];
  readonly isLast: boolean;
  /** The head of the state they were read from: what is missing among them has moved up to there. */
  readonly head: number;
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
  /** Live rows of a kind with this id, in whatever session: a share by its hash, the grants of a device. */
  rowsById<K extends RowKind>(kind: K, id: string): Promise<Stored<K>[]>;
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
  onCommit(listener: (commit: Commit) => void): () => void;
  /**
   * The changes after `after`, in rev order, within PAGE_MAX_ROWS and PAGE_MAX_BYTES (at least one). Costs the
   * same however many rows there are: what may not be seen is passed over a bounded number of rows at a time.
   * To a viewer a grant is its session's row, and a grant's tombstone its session's, under the grant's rev.
   */
  page(after: number, visibility: Visibility): Promise<PageOfChanges>;
  /** Live bodies of a session in rev order, as many as fit a page. None, if the viewer has no grant for it. */
  bodies(range: BodiesRange, viewer: DeviceId | null): Promise<PartOfBodies>;
  /** The rows of sessions themselves above a rev, tombstones too, and the head of the state they were read from. */
  sessionsAfter(rev: number): Promise<{ sessions: SessionChange[]; head: number }>;
  /** Those of the ids that sessions have. */
  existingSessions(ids: readonly SessionId[]): Promise<SessionId[]>;
  /**
   * True if this history has the state that a page up to `cursor` with this token was made from (F4), for an
   * owner or for a viewer: who was one and is now the other has seen other rows.
   */
  knowsPosition(cursor: number, token: string, viewer: DeviceId | null): Promise<boolean>;
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
  /** True if a row of a session that was granted to the device refers to the blob (F9). */
  isBlobGranted(hash: BlobHash, deviceId: DeviceId): Promise<boolean>;
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
