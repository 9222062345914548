import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import type { SessionId } from "../../shared/ids.ts";
import {
  sampleDevice,
  sampleDeviceId,
  sampleGrant,
  sampleSession,
  sampleSessionId,
  sampleTurn,
} from "../testing/sample-rows.ts";
import { openTemporaryStore } from "../testing/temporary-store.ts";
import { kyselyOver } from "./open-database.ts";
import { existingSessions, readBodies, readPage } from "./pages.ts";
import { EVERYTHING } from "./store.ts";
import type { Tables } from "./tables.ts";

const session = sampleSessionId("session");
const viewer = sampleDeviceId("viewer");

/** A database with a little of everything, and the plans of all statements run on it so far. */
async function setUp() {
  const { store, path } = await openTemporaryStore();
  await store.write(async (tx) => {
    await tx.put("session", session, session, sampleSession());
    await tx.put("device", null, viewer, sampleDevice());
    await tx.put("grant", session, viewer, sampleGrant());
    await tx.put("turn", session, "1", sampleTurn());
  });
  await store.close();
  const raw = new Database(path);
  onTestFinished(() => {
    raw.close();
  });
  const statements = new Set<string>();
  const prepare = raw.prepare.bind(raw);
  raw.prepare = (sql: string) => {
    statements.add(sql);
    return prepare(sql);
  };
  const plans = () =>
    [...statements].flatMap((sql) =>
      prepare<unknown[], { detail: string }>(`explain query plan ${sql}`)
        .all(Array(sql.split("?").length - 1).fill(null))
        .map(({ detail }) => ({ detail, sql })),
    );
  return { db: kyselyOver<Tables>(raw), plans };
}

test("reads pages and bodies by index alone, whatever is visible: they cost the same in any feed", async () => {
  const { db, plans } = await setUp();
  const leftOut = new Set<SessionId>([session]);
  for (const after of [0, 3]) {
    for (const visibility of [
      EVERYTHING,
      { viewer: null, leftOut },
      { viewer, leftOut: new Set<SessionId>() },
      { viewer, leftOut },
    ]) {
      await readPage(db, after, visibility);
    }
  }
  await readBodies(db, { sessionId: session, after: 0, upto: 9 }, viewer);
  await existingSessions(db, [session]);
  expect(plans().length).toBeGreaterThan(10);
  const slow = plans().filter(
    ({ detail }) => /SCAN (?!json_each)/.test(detail) || detail.includes("TEMP B-TREE"),
  );
  // The index ends at once: it is the last entry that is asked for.
  expect(slow.filter(({ sql }) => !sql.includes('max("last_rev")'))).toEqual([]);
});
