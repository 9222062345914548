// Several tabs of one browser: with a SharedWorker between them, and without, where one of them leads.

import type { BrowserContext, Page, Worker } from "@playwright/test";
import type { Daemon } from "./daemon.ts";
import { expect, test } from "./fixtures.ts";
import {
  ask,
  expectWholeFile,
  lastRequest,
  letIn,
  requests,
  startSession,
  waitUntilDone,
  waitUntilInstalled,
  waitUntilStreaming,
} from "./workbench.ts";

const HANG_MS = 15_000;

/** Runs in a page: the pages that live, and those that the sync worker believes to live. */
async function countPages(): Promise<{ alive: number; watched: number }> {
  const { held = [], pending = [] } = await navigator.locks.query();
  const ofPages = (locks: LockInfo[]) =>
    locks.filter(({ name }) => name?.startsWith("troupe-page-")).length;
  return { alive: ofPages(held), watched: ofPages(pending) };
}

test("a tab that crashes in mid-answer is forgotten, and leaves the others whole", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  const path = await startSession(page, project.path, "read LONG.md");
  const tab = await page.context().newPage();
  await tab.goto(`${daemon.origin}${path}`);
  await waitUntilStreaming(tab, 30);
  await expect.poll(() => tab.evaluate(countPages)).toEqual({ alive: 2, watched: 2 });
  await page.goto("chrome://crash").catch(() => {});
  await expect.poll(() => tab.evaluate(countPages)).toEqual({ alive: 1, watched: 1 });
  await waitUntilDone(tab);
  await expectWholeFile(lastRequest(tab));
  await ask(tab, "help");
  await expect(requests(tab)).toHaveCount(2);
  await waitUntilDone(tab);
});

async function connections(daemon: Daemon): Promise<string | undefined> {
  const metrics = await fetch(`${daemon.origin}/metrics`);
  return /^troupe_connections (\d+)$/m.exec(await metrics.text())?.[1];
}

/** Runs in a page: the workers that lead, by the browser's names for them. */
async function leaders(): Promise<(string | undefined)[]> {
  const { held = [] } = await navigator.locks.query();
  return held
    .filter(({ name }) => name?.startsWith("troupe-leader "))
    .map(({ clientId }) => clientId);
}

/** Runs in a page: from now on, how few requests were on screen at any time. */
function watchRequests(): { least: number } {
  const watched = { least: Number.POSITIVE_INFINITY };
  const count = () => {
    const shown = document.querySelectorAll("article.request[data-request]").length;
    watched.least = Math.min(watched.least, shown);
    requestAnimationFrame(count);
  };
  count();
  return watched;
}

/** A tab that shows the session, as a follower of those there are. */
async function openTab(context: BrowserContext, daemon: Daemon, path: string): Promise<Page> {
  const tab = await context.newPage();
  await tab.goto(`${daemon.origin}${path}`);
  await expect(requests(tab)).not.toHaveCount(0);
  return tab;
}

async function syncWorker(page: Page): Promise<Worker> {
  for (const worker of page.workers()) {
    if ((await worker.evaluate(() => self.name)) === "troupe-sync") return worker;
  }
  throw new Error("The page has no sync worker");
}

/** Its sync worker takes up nothing for so long, and keeps its locks, like that of a frozen tab. */
async function hang(page: Page, ms: number): Promise<void> {
  const worker = await syncWorker(page);
  const hanging = worker.evaluate((duration) => {
    for (const end = Date.now() + duration; Date.now() < end; );
  }, ms);
  // A worker that steps down right after says no more that it is done.
  hanging.catch(() => {});
}

test.describe("without a SharedWorker", () => {
  test.beforeEach(async ({ context }) => {
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, "SharedWorker"));
  });

  test("ten tabs cost one socket, and what one is told all show", async ({
    page,
    daemon,
    project,
  }) => {
    await letIn(page, daemon);
    const path = await startSession(page, project.path, "help");
    await waitUntilDone(page);
    const tabs: Page[] = [];
    for (let count = 0; count < 9; count++) {
      tabs.push(await openTab(page.context(), daemon, path));
    }
    expect(await connections(daemon)).toBe("1");
    expect(await page.evaluate(leaders)).toHaveLength(1);
    await ask(tabs[4] ?? page, "read LONG.md");
    for (const tab of [page, ...tabs]) {
      await expect(requests(tab)).toHaveCount(2);
      await waitUntilDone(tab);
      await expectWholeFile(lastRequest(tab));
    }
    expect(await connections(daemon)).toBe("1");
  });

  test("the tab that leads is closed in mid-answer: the others show it whole and go on", async ({
    page,
    daemon,
    project,
  }) => {
    await letIn(page, daemon);
    const path = await startSession(page, project.path, "read LONG.md");
    const tab = await openTab(page.context(), daemon, path);
    const other = await openTab(page.context(), daemon, path);
    await waitUntilStreaming(tab, 30);
    await page.close();
    for (const each of [tab, other]) {
      await waitUntilDone(each);
      await expectWholeFile(lastRequest(each));
    }
    expect(await connections(daemon)).toBe("1");
    await ask(other, "help");
    await expect(requests(tab)).toHaveCount(2);
    await waitUntilDone(tab);
  });

  test("the tab that leads crashes in mid-answer: the others show it whole and go on", async ({
    page,
    daemon,
    project,
  }) => {
    await letIn(page, daemon);
    const path = await startSession(page, project.path, "read LONG.md");
    const tab = await openTab(page.context(), daemon, path);
    await waitUntilStreaming(tab, 30);
    await page.goto("chrome://crash").catch(() => {});
    await waitUntilDone(tab);
    await expectWholeFile(lastRequest(tab));
    await ask(tab, "help");
    await expect(requests(tab)).toHaveCount(2);
    await waitUntilDone(tab);
    expect(await connections(daemon)).toBe("1");
  });

  test("the tab that leads hangs in mid-answer: another takes the lead, and it follows when it wakes", async ({
    page,
    daemon,
    project,
  }) => {
    await letIn(page, daemon);
    const path = await startSession(page, project.path, "read LONG.md");
    const tab = await openTab(page.context(), daemon, path);
    await waitUntilStreaming(tab, 30);
    const before = await tab.evaluate(leaders);
    await hang(page, HANG_MS);
    const begun = Date.now();
    await expect.poll(() => tab.evaluate(leaders)).not.toEqual(before);
    await waitUntilDone(tab);
    await expectWholeFile(lastRequest(tab));
    await ask(tab, "help");
    await expect(requests(tab)).toHaveCount(2);
    expect(Date.now() - begun).toBeLessThan(HANG_MS);

    await expect(requests(page)).toHaveCount(2);
    await waitUntilDone(page);
    await expectWholeFile(requests(page).first());
    expect(await tab.evaluate(leaders)).toHaveLength(1);
    await expect.poll(() => connections(daemon)).toBe("1");
    await ask(page, "find TODO");
    for (const each of [page, tab]) {
      await expect(requests(each)).toHaveCount(3);
      await waitUntilDone(each);
    }
  });

  test("what a tab shows stays on screen, where it was, when the lead changes hands", async ({
    page,
    daemon,
    project,
  }) => {
    await letIn(page, daemon);
    const path = await startSession(page, project.path, "read LONG.md");
    await waitUntilDone(page);
    const tab = await openTab(page.context(), daemon, path);
    await expectWholeFile(lastRequest(tab));
    await tab.locator(".transcript .scroll").hover();
    await tab.mouse.wheel(0, -5_000);
    await expect(tab.getByRole("button", { name: "To the end" })).toBeVisible();
    const top = () => tab.locator(".transcript .scroll").evaluate(({ scrollTop }) => scrollTop);
    const before = await top();
    const leadersBefore = await tab.evaluate(leaders);
    const leastShown = await tab.evaluateHandle(watchRequests);
    await page.close();
    await expect.poll(() => tab.evaluate(leaders)).not.toEqual(leadersBefore);
    await expect(tab.locator(".foot .sync")).toContainText("Synced");
    expect(await top()).toBe(before);
    expect(await leastShown.evaluate(({ least }) => least)).toBe(1);
  });

  test("[F5] prompts that a tab sends while the lead changes hands act once each", async ({
    page,
    daemon,
    project,
  }) => {
    await letIn(page, daemon);
    const path = await startSession(page, project.path, "help");
    await waitUntilDone(page);
    const tab = await openTab(page.context(), daemon, path);
    await openTab(page.context(), daemon, path);
    const questions = ["one", "two", "three", "four"];
    let closing: Promise<void> | null = null;
    for (const question of questions) {
      await ask(tab, question);
      closing ??= page.close();
    }
    await closing;
    await expect(requests(tab)).toHaveCount(5);
    await waitUntilDone(tab);
    expect(await requests(tab).locator(".said").allTextContents()).toEqual(["help", ...questions]);
  });

  test("[F5] two tabs share one copy, and one sends what the other left", async ({
    page,
    daemon,
    project,
  }) => {
    await letIn(page, daemon);
    const path = await startSession(page, project.path, "read LONG.md");
    const tab = await page.context().newPage();
    await tab.goto(`${daemon.origin}${path}`);
    await waitUntilStreaming(tab, 30);
    await Promise.all([waitUntilDone(page), waitUntilDone(tab)]);
    await expectWholeFile(lastRequest(page));
    await expectWholeFile(lastRequest(tab));
    await waitUntilInstalled(page);

    await daemon.kill();
    for (const each of [page, tab]) {
      await expect(each.locator(".foot .sync")).toContainText("Offline");
    }
    await ask(page, "find TODO");
    await expect(page.getByText("Will be sent when the daemon is back")).toBeVisible();
    await page.close();
    await daemon.restart();
    await expect(requests(tab)).toHaveCount(2, { timeout: 30_000 });
    await waitUntilDone(tab);
    await expect(lastRequest(tab).locator(".said")).toHaveText("find TODO");
  });

  test("a worker that dies and whose script is gone leads to a reload in words", async ({
    browser,
    daemon,
    project,
  }) => {
    const context = await browser.newContext({ serviceWorkers: "block" });
    await context.addInitScript(() => Reflect.deleteProperty(globalThis, "SharedWorker"));
    const page = await context.newPage();
    await letIn(page, daemon);
    await startSession(page, project.path, "help");
    await waitUntilDone(page);
    await page.route("**/assets/entry-*", (route) => route.fulfill({ status: 404 }));
    await (await syncWorker(page)).evaluate(() => setTimeout(() => self.close()));
    await expect(page.getByRole("heading", { name: "could not be loaded" })).toBeVisible();
    await page.unroute("**/assets/entry-*");
    await page.getByRole("button", { name: "Reload" }).click();
    await expect(requests(page)).toHaveCount(1);
    await context.close();
  });
});
