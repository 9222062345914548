// What the browser may do to the copy: damage it, take it away. The page mends it, or says so.

import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import {
  expectWholeFile,
  lastRequest,
  letIn,
  requests,
  startSession,
  waitUntilDone,
  waitUntilInstalled,
} from "./workbench.ts";

/** Puts a record into a store, over all that are there or beside them. */
async function spoil(page: Page, store: string, how: "all" | "beside"): Promise<void> {
  await page.evaluate(
    async ([name, way]) => {
      const settled = <T>(request: IDBRequest<T>): Promise<T> =>
        new Promise((resolve, reject) => {
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
      const database = await settled(indexedDB.open("troupe"));
      const records = database.transaction(name, "readwrite").objectStore(name);
      if (way === "beside") await settled(records.put({ spoiled: true }));
      else {
        for (const key of await settled(records.getAllKeys())) {
          await settled(records.put({ spoiled: true }, key));
        }
      }
      database.close();
    },
    [store, how] as const,
  );
}

test("damaged records are fetched anew, and do not hold up the rest", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  const path = await startSession(page, project.path, "help");
  await waitUntilDone(page);
  for (const [store, how] of [
    ["turns", "all"],
    ["position", "all"],
    ["outbox", "beside"],
  ] as const) {
    // A page without a worker of ours, so that nobody has the records in memory.
    await page.goto(`${daemon.origin}/identity`);
    await spoil(page, store, how);
    await page.goto(`${daemon.origin}${path}`);
    await waitUntilDone(page);
    await expect(requests(page), store).toHaveCount(1);
    await expect(page.getByText("I am the guide").first()).toBeVisible();
    await expect(page.locator(".foot .sync"), store).toContainText("Synced");
  }
});

test("a database that is taken away is begun anew, and a link lets the browser in again", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  const path = await startSession(page, project.path, "help");
  await waitUntilDone(page);
  const other = await page.context().newPage();
  await other.goto(`${daemon.origin}${path}`);
  await expect(requests(other)).toHaveCount(1);
  await page.evaluate(() => void indexedDB.deleteDatabase("troupe"));
  // Its key went with it.
  for (const each of [page, other]) {
    await expect(
      each.getByRole("heading", { name: "This browser is not let in yet" }),
    ).toBeVisible();
  }
  const { hash } = new URL(await daemon.launchLink());
  await page.goto(`${daemon.origin}${path}${hash}`);
  await expect(requests(page)).toHaveCount(1);
  await expect(requests(other)).toHaveCount(1);
});

test("storage that a newer version has taken is said to be out of reach", async ({
  page,
  daemon,
}) => {
  await letIn(page, daemon);
  await page.evaluate(() => {
    const opening = indexedDB.open("troupe", 999);
    opening.onsuccess = () => opening.result.close();
  });
  const told = page.getByRole("heading", { name: "This browser's storage does not work" });
  await expect(told).toBeVisible();
  await page.reload();
  await expect(told).toBeVisible();
});

/** Runs in the page: the hashes of the texts kept beside the rows, after keeping one that no row names. */
async function keptTexts(unused: string | null): Promise<string[]> {
  const settled = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const database = await settled(indexedDB.open("troupe"));
  const blobs = database.transaction("blobs", "readwrite").objectStore("blobs");
  const session = location.pathname.slice("/s/".length);
  if (unused !== null) {
    await settled(blobs.put({ hash: unused, bytes: new Uint8Array(3) }, [session, unused]));
  }
  const keys = await settled(blobs.getAllKeys());
  database.close();
  return keys.map((key) => String(Array.isArray(key) ? key[1] : key));
}

test("a text that no row names any more leaves the disk, and the others stay", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "read LONG.md");
  await waitUntilDone(page);
  await waitUntilInstalled(page);
  const named = await page.evaluate(keptTexts, null);
  expect(named.length).toBeGreaterThan(0);
  const unused = "0".repeat(64);
  expect(await page.evaluate(keptTexts, unused)).toContain(unused);
  await page.reload();
  await expect.poll(() => page.evaluate(keptTexts, null)).toEqual(named);
  await expectWholeFile(lastRequest(page));
});

test("[F5] a copy of an older version is dropped, and what waits to be sent is not", async ({
  page,
  daemon,
  project,
}) => {
  await page.goto(`${daemon.origin}/identity`);
  await page.evaluate(async (workingDir) => {
    const opening = indexedDB.open("troupe", 1);
    await new Promise<void>((resolve, reject) => {
      opening.onerror = () => reject(opening.error);
      opening.onsuccess = () => resolve();
      opening.onupgradeneeded = () => {
        opening.result.createObjectStore("turns");
        const outbox = opening.result.createObjectStore("outbox", { autoIncrement: true });
        outbox.createIndex("commandId", "commandId", { unique: true });
        outbox.put({
          commandId: "AAAAAAAAAAAAAAAAAAAAAA",
          method: "session.create",
          params: { workingDir, title: "Made before" },
          state: "waiting",
          createdAt: 1,
        });
      };
    });
    opening.result.close();
  }, project.path);
  await page.goto(await daemon.launchLink());
  await expect(page.getByRole("navigation").getByText("Made before")).toBeVisible();
  await expect(page.locator(".foot .sync")).toContainText("Synced");
});
