// The feed on SQLite.

import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFakeClock } from "../testing/fake-clock.ts";
import { makeTemporaryFolder, openStoreAt } from "../testing/temporary-store.ts";
import { feedContract } from "./feed.contract.ts";

feedContract("SQLite", async () => {
  const folder = await makeTemporaryFolder();
  const path = join(folder, "troupe.db");
  const copy = join(folder, "copy.db");
  const clock = makeFakeClock();
  return {
    clock,
    open: () => openStoreAt(path, clock),
    async copy() {
      await copyFile(path, copy);
      await copyFile(`${path}-wal`, `${copy}-wal`);
    },
    async setBack() {
      await rm(`${path}-wal`, { force: true });
      await copyFile(copy, path);
      await copyFile(`${copy}-wal`, `${path}-wal`);
    },
  };
});
