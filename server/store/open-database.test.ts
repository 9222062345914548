import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { makeTemporaryFolder } from "../testing/temporary-store.ts";
import { openWriter } from "./open-database.ts";

test("says what went wrong where SQLite has rolled back by itself, as on a full disk", async () => {
  const { kysely } = openWriter(join(await makeTemporaryFolder(), "troupe.db"));
  onTestFinished(() => kysely.destroy());
  await sql`create table t (id integer primary key)`.execute(kysely);
  const writing = kysely.transaction().execute(async (tx) => {
    await sql`insert into t values (1)`.execute(tx);
    await sql`insert or rollback into t values (1)`.execute(tx);
  });
  await expect(writing).rejects.toMatchObject({ code: "SQLITE_CONSTRAINT_PRIMARYKEY" });
  const kept = await sql`select id from t`.execute(kysely);
  expect(kept.rows).toEqual([]);
});
