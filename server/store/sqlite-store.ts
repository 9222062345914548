// The store on SQLite: one file, one writer, one reader. Opening, the queue of transactions, and who is
// told of a commit; what a transaction does is in writes.ts and reads.ts.

import type { Kysely } from "kysely";
import { type BlobHash, type DeviceId, type SessionId, toBase64Url } from "../../shared/ids.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { isBlobGranted, readBlobWindow } from "./blobs.ts";
import { DeviceCursors } from "./device-cursors.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations/index.ts";
import { type OpenedDatabase, openReader, openWriter, toStoreError } from "./open-database.ts";
import { existingSessions, readBodies, readPage, sessionsAfter } from "./pages.ts";
import { knowsPosition, latestRev } from "./positions.ts";
import { Reads } from "./reads.ts";
import { readSavedStreams } from "./saved-streams.ts";
import type {
  BodiesRange,
  Commit,
  Committed,
  PageOfChanges,
  PartOfBodies,
  SavedStream,
  SessionChange,
  Store,
  Visibility,
  WriteTx,
} from "./store.ts";
import type { Tables } from "./tables.ts";
import { Writes } from "./writes.ts";

const TOKEN_BYTES = 16;
/** Acks are gathered this long before they are written. */
const ACK_SAVE_MS = 1_000;

export interface SqliteStoreOptions {
  /** The database file; made, with mode 0600, when there is none. Its folder must exist. */
  readonly path: string;
  readonly clock: Clock;
  readonly randomBytes: (count: number) => Uint8Array;
  readonly log: Log;
}

/** Rejects with a `StoreError`: schema_too_new, not_writable, corrupt or migration_failed. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, clock, log, randomBytes } = options;
  const writer = openWriter(path);
  try {
    const randomId = () => toBase64Url(randomBytes(TOKEN_BYTES));
    const now = clock.now();
    const { header } = writer;
    const backup = await migrate(writer, { path, header, migrations, randomId, now });
    if (backup !== null) log.info({ backup }, "database migrated, the state before was kept");
    const epoch = await readEpoch(writer);
    const head = await latestRev(writer.kysely);
    const cursors = await DeviceCursors.load(writer.kysely);
    return new SqliteStore(options, { writer, reader: openReader(path), epoch, head, cursors });
  } catch (error) {
    writer.raw.close();
    throw toStoreError(path, error);
  }
}

async function readEpoch({ kysely }: OpenedDatabase): Promise<string> {
  const entry = await kysely
    .selectFrom("meta")
    .select("value")
    .where("key", "=", "epoch")
    .executeTakeFirstOrThrow();
  return entry.value;
}

interface Opened {
  readonly writer: OpenedDatabase;
  readonly reader: OpenedDatabase;
  readonly epoch: string;
  readonly head: number;
  readonly cursors: DeviceCursors;
}

class SqliteStore extends Reads implements Store {
  readonly epoch: string;
  readonly #options: SqliteStoreOptions;
  readonly #writer: OpenedDatabase;
  readonly #cursors: DeviceCursors;
  readonly #listeners = new Set<(commit: Commit) => void>();
  #head: number;
  #tail: Promise<unknown> = Promise.resolve();
  #cancelAckSave: (() => void) | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: SqliteStoreOptions, opened: Opened) {
    super(opened.reader.kysely);
    this.epoch = opened.epoch;
    this.#options = options;
    this.#writer = opened.writer;
    this.#cursors = opened.cursors;
    this.#head = opened.head;
  }

  get head(): number {
    return this.#head;
  }

  write<T>(work: (tx: WriteTx) => Promise<T>): Promise<Committed<T>> {
    return this.#inTurn(async () => {
      const { value, moved } = await this.#transact(work);
      if (moved !== null) {
        this.#head = moved.head;
        this.#announce(moved);
      }
      return { value, head: this.#head };
    });
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    const entry = (commit: Commit) => listener(commit);
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
    };
  }

  page(after: number, visibility: Visibility): Promise<PageOfChanges> {
    return this.db.transaction().execute((tx) => readPage(tx, after, visibility));
  }

  bodies(range: BodiesRange, viewer: DeviceId | null): Promise<PartOfBodies> {
    return this.db.transaction().execute((tx) => readBodies(tx, range, viewer));
  }

  sessionsAfter(rev: number): Promise<{ sessions: SessionChange[]; head: number }> {
    return this.db.transaction().execute((tx) => sessionsAfter(tx, rev));
  }

  existingSessions(ids: readonly SessionId[]): Promise<SessionId[]> {
    return existingSessions(this.db, ids);
  }

  knowsPosition(cursor: number, token: string, viewer: DeviceId | null): Promise<boolean> {
    return knowsPosition(this.db, cursor, token, viewer);
  }

  async deviceCursor(deviceId: DeviceId): Promise<number> {
    return this.#cursors.get(deviceId);
  }

  ackDevice(deviceId: DeviceId, cursor: number): void {
    if (this.#cursors.moveTo(deviceId, cursor)) this.#saveAcksSoon();
  }

  restartDevice(deviceId: DeviceId): void {
    if (this.#cursors.reset(deviceId)) this.#saveAcksSoon();
  }

  readBlob(hash: BlobHash, offset: number, length: number) {
    return readBlobWindow(this.db, hash, offset, length);
  }

  isBlobGranted(hash: BlobHash, deviceId: DeviceId): Promise<boolean> {
    return isBlobGranted(this.db, hash, deviceId);
  }

  savedStreams(): Promise<SavedStream[]> {
    return readSavedStreams(this.db);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#cancelAckSave?.();
    await this.#tail;
    try {
      await this.#saveAcks();
    } catch (error) {
      // Cursors that are lost cost nothing, and a full disk must not keep the database open.
      this.#complain(error, "device cursors were not saved");
    } finally {
      this.#listeners.clear();
      await this.db.destroy();
      await this.#writer.kysely.destroy();
    }
  }

  /** Runs after all that was handed over before. */
  #inTurn<T>(job: () => Promise<T>): Promise<T> {
    if (this.#closing !== null) return Promise.reject(new Error("The store is closed"));
    const result = this.#tail.then(job);
    this.#tail = result.catch(() => undefined); // Its caller hears of it from `result`.
    return result;
  }

  #transact<T>(work: (tx: WriteTx) => Promise<T>): Promise<{ value: T; moved: Commit | null }> {
    const randomId = () => toBase64Url(this.#options.randomBytes(TOKEN_BYTES));
    return this.#transaction(async (db) => {
      const tx = new Writes(db);
      try {
        const value = await work(tx);
        return { value, moved: await tx.finish(randomId) };
      } catch (error) {
        await tx.end();
        throw error;
      }
    });
  }

  async #transaction<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    try {
      return await this.#writer.kysely.transaction().execute(work);
    } catch (error) {
      throw toStoreError(this.#options.path, error);
    }
  }

  #announce(commit: Commit): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(commit);
      } catch (error) {
        this.#complain(error, "a commit listener failed");
      }
    }
  }

  #saveAcksSoon(): void {
    if (this.#cancelAckSave !== null || this.#closing !== null) return;
    this.#cancelAckSave = this.#options.clock.after(ACK_SAVE_MS, () => {
      this.#cancelAckSave = null;
      this.#inTurn(() => this.#saveAcks()).catch((error: unknown) => {
        this.#complain(error, "device cursors were not saved");
      });
    });
  }

  /** Of what fails where no caller waits. */
  #complain(error: unknown, message: string): void {
    this.#options.log.error({ error: String(error) }, message);
  }

  #saveAcks(): Promise<void> {
    return this.#cursors.save((work) => this.#transaction(work));
  }
}
