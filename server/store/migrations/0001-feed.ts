// The feed and what is stored beside it.

import { type Kysely, sql } from "kysely";
import type { Migration } from "./migration.ts";

export const feed: Migration = {
  async up(db: Kysely<unknown>, { randomId }): Promise<void> {
    const { schema } = db;
    await schema
      .createTable("rows")
      .addColumn("kind", "text", (column) => column.notNull())
      .addColumn("session_id", "text", (column) => column.notNull())
      .addColumn("id", "text", (column) => column.notNull())
      .addColumn("ordinal", "integer", (column) => column.notNull())
      .addColumn("rev", "integer", (column) => column.notNull())
      .addColumn("size", "integer", (column) => column.notNull())
      .addColumn("blobs", "integer", (column) => column.notNull())
      .addColumn("body", "blob")
      .addPrimaryKeyConstraint("rows_by_id", ["kind", "session_id", "id"])
      .execute();
    await schema.createIndex("rows_by_rev").unique().on("rows").column("rev").execute();
    await schema
      .createIndex("rows_by_session")
      .on("rows")
      .columns(["session_id", "kind", "ordinal"])
      .execute();
    await schema
      .createTable("commits")
      .addColumn("last_rev", "integer", (column) => column.primaryKey())
      .addColumn("token", "text", (column) => column.notNull())
      .execute();
    await schema
      .createTable("commands")
      .addColumn("command_id", "text", (column) => column.primaryKey())
      .addColumn("method", "text", (column) => column.notNull())
      .addColumn("params_hash", "text", (column) => column.notNull())
      .addColumn("answer", "blob", (column) => column.notNull())
      .addColumn("device_id", "text")
      .addColumn("at", "integer", (column) => column.notNull())
      .modifyEnd(sql`without rowid`)
      .execute();
    await createBlobTables(db);
    await schema
      .createTable("device_cursors")
      .addColumn("device_id", "text", (column) => column.primaryKey())
      .addColumn("cursor", "integer", (column) => column.notNull())
      .execute();
    await schema
      .createTable("saved_streams")
      .addColumn("session_id", "text", (column) => column.notNull())
      .addColumn("turn_id", "integer", (column) => column.notNull())
      .addColumn("parts", "blob", (column) => column.notNull())
      .addPrimaryKeyConstraint("saved_streams_by_turn", ["session_id", "turn_id"])
      .execute();
    await schema
      .createTable("meta")
      .addColumn("key", "text", (column) => column.primaryKey())
      .addColumn("value", "text", (column) => column.notNull())
      .execute();
    await sql`insert into meta (key, value) values ('epoch', ${randomId()})`.execute(db);
  },
};

async function createBlobTables({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable("blobs")
    .addColumn("hash", "text", (column) => column.primaryKey())
    .addColumn("size", "integer", (column) => column.notNull())
    .addColumn("body", "blob", (column) => column.notNull())
    .execute();
  await schema
    .createTable("blob_refs")
    .addColumn("hash", "text", (column) => column.notNull().references("blobs.hash"))
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("session_id", "text", (column) => column.notNull())
    .addColumn("id", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("blob_refs_by_hash", ["hash", "kind", "session_id", "id"])
    .modifyEnd(sql`without rowid`)
    .execute();
  await schema
    .createIndex("blob_refs_by_row")
    .on("blob_refs")
    .columns(["session_id", "kind", "id"])
    .execute();
}
