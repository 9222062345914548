// Several tabs of one browser, with one sync worker between them and with one each.

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

test("[F5] without a SharedWorker two tabs share one copy, and one sends what the other left", async ({
  page,
  daemon,
  project,
}) => {
  await page.context().addInitScript(() => Reflect.deleteProperty(globalThis, "SharedWorker"));
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
  await expect(page.getByText("Sent when back online")).toBeVisible();
  await page.close();
  await daemon.restart();
  await expect(requests(tab)).toHaveCount(2, { timeout: 30_000 });
  await waitUntilDone(tab);
  await expect(lastRequest(tab).locator(".said")).toHaveText("find TODO");
});
