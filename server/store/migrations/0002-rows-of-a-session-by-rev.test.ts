import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import {
  plainText,
  sampleDevice,
  sampleDeviceId,
  sampleSession,
  sampleSessionId,
  sampleTurn,
} from "../../testing/sample-rows.ts";
import { makeTemporaryFolder, openStoreAt } from "../../testing/temporary-store.ts";
import { packValue } from "../body.ts";
import { migrate } from "../migrate.ts";
import { openWriter } from "../open-database.ts";
import { EVERYTHING } from "../store.ts";
import { feed } from "./0001-feed.ts";

const session = sampleSessionId("session");
const device = sampleDeviceId("device");

/** A database of schema version 1 with rows of that time in it. */
async function makeFixture(): Promise<string> {
  const path = join(await makeTemporaryFolder(), "troupe.db");
  const writer = openWriter(path);
  const { header } = writer;
  await migrate(writer, { path, header, migrations: [feed], randomId: () => "epoch", now: 0 });
  const insert = writer.raw.prepare(
    "insert into rows (kind, session_id, id, ordinal, rev, size, blobs, body) values (?, ?, ?, ?, ?, ?, 0, ?)",
  );
  const put = (kind: string, sessionId: string, id: string, rev: number, row: unknown) => {
    const { body, size } = packValue(row);
    insert.run(kind, sessionId, id, 0, rev, size, body);
  };
  put("device", "", device, 1, sampleDevice());
  put("session", session, session, 2, sampleSession());
  put("turn", session, "1", 3, sampleTurn({ answer: plainText("from before") }));
  writer.raw.prepare("insert into commits (last_rev, token) values (3, 'secret')").run();
  writer.raw.close();
  return path;
}

test("keeps every row, the epoch and the positions of a database of version 1", async () => {
  const path = await makeFixture();
  const store = await openStoreAt(path);
  expect([store.epoch, store.head]).toEqual(["epoch", 3]);
  const { changes, token } = await store.page(0, EVERYTHING);
  expect(changes.map(({ kind, rev }) => [kind, rev])).toEqual([
    ["device", 1],
    ["session", 2],
    ["turn", 3],
  ]);
  expect(token).toBe("3.secret");
  expect(await store.knowsPosition(3, "3.secret", null)).toBe(true);
  const { changes: bodies } = await store.bodies({ sessionId: session, after: 0, upto: 3 }, null);
  expect(bodies).toMatchObject([{ row: { answer: { head: "from before" } } }]);
  await store.close();
  const raw = new Database(path);
  expect(raw.pragma("user_version", { simple: true })).toBeGreaterThanOrEqual(2);
  raw.close();
});
