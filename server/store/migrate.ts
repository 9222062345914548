// Brings a database to this program's schema: forward only, one transaction per migration, a backup
// beside the file before an existing one is touched.

import { chmodSync, renameSync } from "node:fs";
import { type Kysely, sql } from "kysely";
import type { Migration } from "./migrations/migration.ts";
import { APPLICATION_ID, type Header, kyselyOver, type OpenedDatabase } from "./open-database.ts";
import { StoreError } from "./store.ts";

export interface MigrateOptions {
  readonly path: string;
  readonly header: Header;
  readonly migrations: readonly Migration[];
  readonly randomId: () => string;
  readonly now: number;
}

/** Resolves with the backup's path, or null when none was needed. */
export async function migrate(
  { raw }: OpenedDatabase,
  options: MigrateOptions,
): Promise<string | null> {
  const { path, header, migrations } = options;
  const known = migrations.length;
  if (header.version > known) {
    throw new StoreError(
      "schema_too_new",
      `The database ${path} has schema version ${header.version}; this program knows versions up to ${known}. Start a newer one.`,
    );
  }
  if (header.version === known) return null;
  const backup = header.isEmpty ? null : await backUp(raw, options);
  const db = kyselyOver<unknown>(raw);
  for (const [index, migration] of migrations.entries()) {
    if (index >= header.version) await apply(db, options, migration, index + 1);
  }
  return backup;
}

async function backUp(raw: OpenedDatabase["raw"], options: MigrateOptions): Promise<string> {
  const { path, header, now } = options;
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, "-");
  const backup = `${path}.v${header.version}-${stamp}.backup`;
  try {
    await raw.backup(`${backup}.partial`);
    chmodSync(`${backup}.partial`, 0o600);
    renameSync(`${backup}.partial`, backup);
  } catch (cause) {
    throw new StoreError(
      "migration_failed",
      `The database ${path} was not migrated: writing the backup ${backup} failed`,
      cause,
    );
  }
  return backup;
}

async function apply(
  db: Kysely<unknown>,
  { path, randomId }: MigrateOptions,
  migration: Migration,
  version: number,
): Promise<void> {
  try {
    await db.transaction().execute(async (tx) => {
      await migration.up(tx, { randomId });
      await sql.raw(`pragma application_id = ${APPLICATION_ID}`).execute(tx);
      await sql.raw(`pragma user_version = ${version}`).execute(tx);
    });
  } catch (cause) {
    throw new StoreError(
      "migration_failed",
      `Migrating ${path} to schema version ${version} failed; it stays at version ${version - 1}`,
      cause,
    );
  }
}
