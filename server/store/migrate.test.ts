import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { sampleDevice, sampleDeviceId } from "../testing/sample-rows.ts";
import {
  makeTemporaryFolder,
  openStoreAt,
  openTemporaryStore,
} from "../testing/temporary-store.ts";
import { migrate } from "./migrate.ts";
import { migrations } from "./migrations/index.ts";
import type { Migration } from "./migrations/migration.ts";
import { openWriter } from "./open-database.ts";
import { EVERYTHING } from "./store.ts";

const device = sampleDeviceId("device");

/** A database of this program's schema with one row in it, closed. */
async function makeDatabase(): Promise<string> {
  const { store, path } = await openTemporaryStore();
  await store.write((tx) => tx.put("device", null, device, sampleDevice()));
  await store.close();
  return path;
}

async function migrateWith(path: string, added: Migration[]): Promise<string | null> {
  const writer = openWriter(path);
  onTestFinished(() => {
    writer.raw.close();
  });
  return migrate(writer, {
    path,
    header: writer.header,
    migrations: [...migrations, ...added],
    randomId: () => "id",
    now: Date.UTC(2026, 1, 3),
  });
}

const addColumn: Migration = {
  async up(db) {
    await sql`alter table rows add column extra text`.execute(db);
  },
};

const failing: Migration = {
  async up(db) {
    await sql`delete from rows`.execute(db);
    throw new Error("on purpose");
  },
};

const filesBeside = async (path: string) =>
  (await readdir(dirname(path))).filter((name) => name.includes("backup"));

test("makes a new database without a backup, and opens one of its own version as it is", async () => {
  const path = await makeDatabase();
  expect((await openStoreAt(path)).head).toBe(1);
  expect(await filesBeside(path)).toEqual([]);
});

test("keeps a backup of an existing database, from before the first write", async () => {
  const path = await makeDatabase();
  const backup = await migrateWith(path, [addColumn]);
  expect(backup).toBe(`${path}.v${migrations.length}-2026-02-03T00-00-00-000Z.backup`);
  expect(await filesBeside(path)).toHaveLength(1);
  const restored = await openStoreAt(backup ?? "");
  expect(await restored.row("device", null, device)).not.toBeNull();
});

test("refuses a database newer than the program, saying both versions, and leaves it alone", async () => {
  const path = await makeDatabase();
  await migrateWith(path, [addColumn]);
  const known = migrations.length;
  await expect(openStoreAt(path)).rejects.toMatchObject({
    code: "schema_too_new",
    message: expect.stringMatching(new RegExp(`version ${known + 1}.* up to ${known}`)),
  });
});

test("undoes a migration that fails, and keeps those before it", async () => {
  const path = await makeDatabase();
  const migrated = migrateWith(path, [addColumn, failing]);
  await expect(migrated).rejects.toMatchObject({ code: "migration_failed" });
  const writer = openWriter(path);
  expect(writer.header.version).toBe(migrations.length + 1);
  expect(writer.raw.prepare("select count(*) as n from rows").get()).toEqual({ n: 1 });
  writer.raw.close();
});

test("tells a file that is no database, one of another program and a damaged one from its own", async () => {
  const folder = await makeTemporaryFolder();
  const foreign = join(folder, "foreign.db");
  const database = new Database(foreign);
  database.exec("create table notes (text)");
  database.close();
  const text = join(folder, "text.db");
  await writeFile(text, "this is no database, only a text that is long enough ".repeat(40));
  for (const path of [foreign, text]) {
    await expect(openStoreAt(path)).rejects.toMatchObject({ code: "corrupt" });
  }
});

test("names kind and id of a row whose body is damaged", async () => {
  const path = await makeDatabase();
  const raw = new Database(path);
  raw.exec("update rows set body = x'00c1'");
  raw.close();
  const store = await openStoreAt(path);
  const damaged = { code: "corrupt", message: expect.stringContaining(`device ${device}`) };
  await expect(store.row("device", null, device)).rejects.toMatchObject(damaged);
  await expect(store.page(0, EVERYTHING)).rejects.toMatchObject(damaged);
});

test("says so when the database cannot be written", async () => {
  const folder = await makeTemporaryFolder();
  await mkdir(join(folder, "is-a-folder"));
  await writeFile(join(folder, "is-a-file"), "");
  for (const path of ["is-a-folder", "is-a-file/troupe.db", "missing/troupe.db"]) {
    const opening = openStoreAt(join(folder, path));
    await expect(opening).rejects.toMatchObject({ code: "not_writable" });
  }
});
