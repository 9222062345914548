import { spawn } from "node:child_process";
import { copyFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { KILLED_SESSION, ROWS_PER_WRITE } from "../testing/killed-writer.ts";
import { plainText, sampleSessionId, sampleTurn } from "../testing/sample-rows.ts";
import {
  makeTemporaryFolder,
  openStoreAt,
  openTemporaryStore,
} from "../testing/temporary-store.ts";
import { storeContract } from "./store.contract.ts";

storeContract("SQLite", async () => {
  const { store, clock, path } = await openTemporaryStore();
  return {
    store,
    advance: (ms) => clock.advance(ms),
    async reopen() {
      await store.close();
      return openStoreAt(path, clock);
    },
    async copy() {
      const copied = join(await makeTemporaryFolder(), "copy.db");
      await copyFile(path, copied);
      await copyFile(`${path}-wal`, `${copied}-wal`);
      return openStoreAt(copied, clock);
    },
  };
});

/** Kills a writing process when it has said `lines` lines; returns those. */
async function killAfter(path: string, lines: number): Promise<string[]> {
  const writer = new URL("../testing/killed-writer.ts", import.meta.url).pathname;
  const script = `
    import { runnerImport } from "vite";
    const { module } = await runnerImport(process.argv[1]);
    await module.writeUntilKilled(process.argv[2]);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, writer, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = new Promise((resolve) => child.once("close", resolve));
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line);
    if (said.length === lines) child.kill("SIGKILL");
  }
  await closed;
  return said;
}

test("[F8] has every acknowledged write and nothing of a half one after kill -9", async () => {
  const path = join(await makeTemporaryFolder(), "troupe.db");
  let written = 0;
  for (const lines of [7, 42]) {
    const said = await killAfter(path, lines);
    const acknowledged = Math.max(written, ...said.filter((line) => line !== "inside").map(Number));
    const store = await openStoreAt(path);
    expect(store.head).toBeGreaterThanOrEqual(acknowledged);
    expect(store.head % ROWS_PER_WRITE).toBe(0);
    const turns = await store.rows("turn", KILLED_SESSION);
    expect(new Set(turns.map(({ row }) => row.answer.head)).size).toBeLessThanOrEqual(1);
    expect(turns).toHaveLength(store.head === 0 ? 0 : ROWS_PER_WRITE);
    written = store.head;
    await store.close();
  }
  expect(written).toBeGreaterThan(0);
}, 60_000);

test("keeps the database and its side files to their owner", async () => {
  const { path } = await openTemporaryStore();
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  }
});

test("stores what deflates well in less room", async () => {
  const { store, path } = await openTemporaryStore();
  await store.write(async (tx) => {
    for (let id = 1; id <= 100; id += 1) {
      const answer = plainText(`${id} and the same words again `.repeat(400));
      await tx.put("turn", sampleSessionId("session"), String(id), sampleTurn({ answer }));
    }
  });
  await store.close();
  expect((await stat(path)).size).toBeLessThan(300_000);
});
