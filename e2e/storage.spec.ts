// What the browser may do to the copy: damage it, take it away, give it no more room. The page mends it, makes
// do with what there is, or says so.

import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import {
  ask,
  expectWholeFile,
  lastRequest,
  letIn,
  openAnotherBrowser,
  requests,
  startAnotherSession,
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

/** Runs in the page: puts its key, what waits and a draft into a database of version 2, as that laid it out. */
async function goBackToVersion2([sessionId, workingDir]: readonly [string, string]): Promise<void> {
  const settled = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const present = await settled(indexedDB.open("troupe"));
  const identity = present.transaction("identity").objectStore("identity");
  const keys = await settled(identity.getAllKeys());
  const values = await settled(identity.getAll());
  present.close();
  await settled(indexedDB.deleteDatabase("troupe"));
  const opening = indexedDB.open("troupe", 2);
  opening.onupgradeneeded = () => {
    const database = opening.result;
    for (const name of ["sessions", "requests", "turns", "toolResults", "devices"]) {
      database.createObjectStore(name);
    }
    for (const name of ["blobs", "wanted", "position"]) database.createObjectStore(name);
    opening.transaction?.objectStore("position").put({ epoch: "old", cursor: 9 }, "position");
    const own = database.createObjectStore("identity");
    keys.forEach((key, n) => void own.put(values[n], key));
    database.createObjectStore("drafts").put("Half a thought", sessionId);
    const outbox = database.createObjectStore("outbox", { autoIncrement: true });
    outbox.createIndex("commandId", "commandId", { unique: true });
    outbox.put({
      commandId: "AAAAAAAAAAAAAAAAAAAAAA",
      method: "session.create",
      params: { workingDir, title: "Made before" },
      state: "waiting",
      createdAt: 1,
    });
  };
  (await settled(opening)).close();
}

test("[F5] what is this browser's own outlasts an update: its key, what waits, drafts", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  const path = await startSession(page, project.path, "help");
  await waitUntilDone(page);
  await page.goto(`${daemon.origin}/identity`);
  await page.evaluate(goBackToVersion2, [path.slice("/s/".length), project.path] as const);
  await page.goto(`${daemon.origin}${path}`);
  await expect(page.getByRole("textbox", { name: "Prompt" })).toHaveValue("Half a thought");
  await expect(page.getByRole("navigation").getByText("Made before")).toBeVisible();
  await expect(requests(page)).toHaveCount(1);
  await expect(page.locator(".foot .sync")).toContainText("Synced");
});

/** A browser with a profile on the disk: one without counts little of what it stores. */
const onDisk = test.extend({
  context: async ({ browser, launchOptions }, use, testInfo) => {
    const profile = testInfo.outputPath("profile");
    const context = await browser.browserType().launchPersistentContext(profile, launchOptions);
    await use(context);
    await context.close();
  },
});

/** Before anything is stored: browsers ask only now and then how much room there is. */
async function limitRoom(page: Page, origin: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const quotaSize = 16 * 1_048_576;
  await devtools.send("Storage.overrideQuotaForOrigin", { origin, quotaSize });
}

/** Runs in the page: the keys of a store. */
async function keysIn(store: string): Promise<string[]> {
  const settled = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const database = await settled(indexedDB.open("troupe"));
  const keys = await settled(database.transaction(store).objectStore(store).getAllKeys());
  database.close();
  return keys.map(String);
}

/** Runs in the page: takes all the room there is, with `isAll` also what is held in reserve. */
async function takeAllRoom(isAll: boolean): Promise<string> {
  const settled = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const put = (database: IDBDatabase, length: number): Promise<string> =>
    new Promise((resolve) => {
      const noise = new Uint8Array(length);
      for (let from = 0; from < length; from += 65_536) {
        crypto.getRandomValues(noise.subarray(from, from + 65_536));
      }
      const writing = database.transaction("things", "readwrite");
      writing.objectStore("things").put(noise);
      writing.oncomplete = () => resolve("written");
      writing.onabort = () => resolve(String(writing.error?.name));
    });
  if (isAll) {
    const ours = await settled(indexedDB.open("troupe"));
    await settled(ours.transaction("reserve", "readwrite").objectStore("reserve").clear());
    ours.close();
  }
  const opening = indexedDB.open("another");
  opening.onupgradeneeded = () => {
    opening.result.createObjectStore("things", { autoIncrement: true });
  };
  const another = await settled(opening);
  let end = "written";
  for (let length = 1_048_576; length >= 1_024; length /= 2) {
    do end = await put(another, length);
    while (end === "written");
  }
  another.close();
  return end;
}

/** Not long enough to be kept beside its row. */
const LONG_PROMPT = "0123456789abcdef".repeat(950);

async function askAtLength(page: Page, times: number): Promise<void> {
  for (let n = 1; n <= times; n++) {
    await ask(page, `Question ${n}: ${LONG_PROMPT}`);
    await expect(page.getByText(`Question ${n}:`).last()).toBeVisible();
    await waitUntilDone(page);
  }
}

onDisk(
  "with no more room the oldest session leaves, the feed goes on, and it comes back when it is opened",
  async ({ page, daemon, project }) => {
    await limitRoom(page, daemon.origin);
    await letIn(page, daemon);
    const oldest = await startSession(page, project.path, "Which one leaves?");
    await waitUntilDone(page);
    await askAtLength(page, 2);
    await waitUntilInstalled(page);
    await expect.poll(() => page.evaluate(keysIn, "reserve")).toHaveLength(1);
    await startAnotherSession(page, project.path, "Which one stays?");
    await waitUntilDone(page);
    expect(await page.evaluate(takeAllRoom, false)).toBe("QuotaExceededError");
    await askAtLength(page, 2);
    const leftOut = () => page.evaluate(keysIn, "leftOut");
    await expect.poll(leftOut).toEqual([oldest.slice("/s/".length)]);
    await expect(page.locator(".foot .sync")).toContainText("Synced");
    await page.reload();
    await expect(page.getByText("Question 2:").last()).toBeVisible();

    // Its title stays: it is found where it was.
    await page.getByRole("navigation").getByText("Which one leaves?").click();
    await page.waitForURL(`**${oldest}`);
    await expect(page.getByText("Question 2:").last()).toBeVisible();
    await expect.poll(leftOut).toEqual([]);
    await daemon.kill();
    await page.reload();
    await expect(page.getByText("Question 2:").last()).toBeVisible();
  },
);

onDisk(
  "[F5] a prompt that finds no room on the disk is sent all the same, once",
  async ({ page, browser, daemon, project }) => {
    await limitRoom(page, daemon.origin);
    await letIn(page, daemon);
    const path = await startSession(page, project.path, "help");
    await waitUntilDone(page);
    await waitUntilInstalled(page);
    await daemon.kill();
    await expect(page.locator(".foot .sync")).toContainText("Offline");
    expect(await page.evaluate(takeAllRoom, true)).toBe("QuotaExceededError");
    await ask(page, `Written at the limit: ${LONG_PROMPT}`);
    await expect(page.getByText("Written at the limit:")).toBeVisible();
    await daemon.restart();
    const other = await openAnotherBrowser(browser, daemon, path);
    await waitUntilDone(other);
    await expect(requests(other)).toHaveCount(2);
    await expect(other.getByText("Written at the limit:")).toHaveCount(1);
  },
);
