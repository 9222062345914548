// A real store in a folder of its own that goes away with the test.

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Log } from "../log.ts";
import { openSqliteStore } from "../store/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { type FakeClock, makeFakeClock } from "./fake-clock.ts";
import { silentLog } from "./silent-log.ts";

export { silentLog } from "./silent-log.ts";

export interface TemporaryStore {
  readonly store: Store;
  readonly clock: FakeClock;
  /** The database file, alone in its folder. */
  readonly path: string;
}

/** Closed and deleted when the test that called it has finished. */
export async function openTemporaryStore(
  options: { clock?: FakeClock; log?: Log } = {},
): Promise<TemporaryStore> {
  const folder = await makeTemporaryFolder();
  const { clock = makeFakeClock(), log = silentLog } = options;
  const path = join(folder, "troupe.db");
  return { store: await openStoreAt(path, clock, log), clock, path };
}

/** Opens a database file, again perhaps; closed when the test has finished. */
export async function openStoreAt(
  path: string,
  clock: FakeClock = makeFakeClock(),
  log: Log = silentLog,
): Promise<Store> {
  const store = await openSqliteStore({ path, clock, randomBytes, log });
  onTestFinished(() => store.close());
  return store;
}

/** A folder that is deleted when the test has finished. */
export async function makeTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "troupe-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
