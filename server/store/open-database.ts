// Opens the database file: permissions, pragmas, and what a failure means. One connection writes, a
// second one reads what is committed, so that no page waits for a transaction.

import { accessSync, chmodSync, closeSync, constants, existsSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { Kysely, SqliteDialect, type SqliteStatement } from "kysely";
import { StoreError } from "./store.ts";
import type { Tables } from "./tables.ts";

/** "TROU", in the header of every database of ours. */
export const APPLICATION_ID = 0x54524f55;
const BUSY_TIMEOUT_MS = 5_000;
const STATEMENTS_KEPT = 200;

export interface OpenedDatabase {
  readonly raw: Database.Database;
  readonly kysely: Kysely<Tables>;
}

export interface Header {
  readonly version: number;
  readonly isEmpty: boolean;
}

/** Opens for writing; creates the file, for its owner only, when there is none. */
export function openWriter(path: string): OpenedDatabase & { header: Header } {
  claimFile(path);
  return converting(path, () => {
    const raw = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      const header = readHeader(raw, path);
      raw.pragma("journal_mode = WAL");
      raw.pragma("synchronous = FULL");
      raw.pragma("foreign_keys = ON");
      return { raw, kysely: kyselyOver<Tables>(raw), header };
    } catch (error) {
      raw.close();
      throw error;
    }
  });
}

/** Opens a second connection, which sees committed states only. */
export function openReader(path: string): OpenedDatabase {
  return converting(path, () => {
    const raw = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    raw.pragma("query_only = ON");
    return { raw, kysely: kyselyOver<Tables>(raw) };
  });
}

/** What a driver error means to the store's callers; other errors stay as they are. */
export function toStoreError(path: string, error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const code = error.code;
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")) {
    return new StoreError("corrupt", `${path} is damaged or no database (${code})`, error);
  }
  if (/^SQLITE_(CANTOPEN|READONLY|PERM|FULL|IOERR|AUTH)/.test(code)) {
    return new StoreError(
      "not_writable",
      `The database ${path} cannot be written (${code})`,
      error,
    );
  }
  return error;
}

function converting<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw toStoreError(path, error);
  }
}

function claimFile(path: string): void {
  try {
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(dirname(path), constants.W_OK);
    chmodSync(path, 0o600);
  } catch (cause) {
    throw new StoreError(
      "not_writable",
      `The database ${path} cannot be opened for writing`,
      cause,
    );
  }
}

function readHeader(raw: Database.Database, path: string): Header {
  const version = readNumber(raw, "user_version");
  const isEmpty = raw.prepare("select 1 from sqlite_master limit 1").get() === undefined;
  if (!isEmpty && readNumber(raw, "application_id") !== APPLICATION_ID) {
    throw new StoreError("corrupt", `${path} is the database of another program`);
  }
  return { version, isEmpty };
}

function readNumber(raw: Database.Database, pragma: string): number {
  const value: unknown = raw.pragma(pragma, { simple: true });
  return typeof value === "number" ? value : 0;
}

/** After a failure as bad as a full disk SQLite has rolled back by itself, and complains about a second time. */
const NOTHING_TO_ROLL_BACK: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
};

/** Statements are prepared once: preparing costs more than most of them take to run. */
export function kyselyOver<T>(raw: Database.Database): Kysely<T> {
  const statements = new Map<string, Database.Statement<unknown[]>>();
  const prepare = (sql: string): SqliteStatement => {
    // Else the complaint would take the place of what went wrong.
    if (sql === "rollback" && !raw.inTransaction) return NOTHING_TO_ROLL_BACK;
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = raw.prepare<unknown[]>(sql);
      if (statements.size >= STATEMENTS_KEPT) statements.clear();
      statements.set(sql, statement);
    }
    return statement;
  };
  return new Kysely<T>({
    dialect: new SqliteDialect({ database: { prepare, close: () => raw.close() } }),
  });
}
