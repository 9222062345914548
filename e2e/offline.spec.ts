// Without the daemon: the shell comes from the service worker, the session from IndexedDB.

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
} from "./workbench.ts";

test("a deep link shows its session after the daemon was killed", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  const path = await startSession(page, project.path, "read LONG.md");
  await waitUntilDone(page);
  await waitUntilInstalled(page);
  await daemon.kill();

  await page.reload();
  await expect(requests(page)).toHaveCount(1);
  await expect(page.locator(".foot .sync")).toContainText("Offline");
  await expectWholeFile(lastRequest(page));

  const tab = await page.context().newPage();
  await tab.goto(`${daemon.origin}${path}#t1`);
  await expect(requests(tab)).toHaveCount(1);
});

test("[F5] a prompt written offline is sent once the daemon is back, and acts once", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "help");
  await waitUntilDone(page);
  await waitUntilInstalled(page);
  await daemon.kill();
  await expect(page.locator(".foot .sync")).toContainText("Offline");
  await ask(page, "find TODO");
  await expect(page.getByText("Sent when back online")).toBeVisible();
  await page.reload();
  await expect(page.getByText("Sent when back online")).toBeVisible();

  await daemon.restart();
  await expect(requests(page)).toHaveCount(2, { timeout: 30_000 });
  await waitUntilDone(page);
  await expect(lastRequest(page).locator(".said")).toHaveText("find TODO");
  await expect(page.getByText("Sent when back online")).toHaveCount(0);
  await page.reload();
  await expect(requests(page)).toHaveCount(2);
});
