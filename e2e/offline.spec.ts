// Without the daemon: the shell comes from the service worker, the session from IndexedDB.

import { expect, test } from "./fixtures.ts";
import {
  ask,
  expectWholeFile,
  lastRequest,
  letIn,
  requests,
  settleIn,
  startSession,
  startSessionOffline,
  waitUntilDone,
  waitUntilInstalled,
  waitUntilStreaming,
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
  await settleIn(page, daemon, project.path);
  await daemon.kill();
  await expect(page.locator(".foot .sync")).toContainText("Offline");
  await ask(page, "find TODO");
  await expect(page.getByText("Will be sent when the daemon is back")).toBeVisible();
  await page.reload();
  await expect(page.getByText("Will be sent when the daemon is back")).toBeVisible();

  await daemon.restart();
  await expect(requests(page)).toHaveCount(2, { timeout: 30_000 });
  await waitUntilDone(page);
  await expect(lastRequest(page).locator(".said")).toHaveText("find TODO");
  await expect(page.getByText("Will be sent when the daemon is back")).toHaveCount(0);
  await page.reload();
  await expect(requests(page)).toHaveCount(2);
});

test("[F5] a session made offline with its first prompt goes out in order, and a prompt taken back never", async ({
  page,
  daemon,
  project,
}) => {
  await settleIn(page, daemon, project.path);
  await startSessionOffline(page, daemon, { folder: project.path, question: "find TODO" });
  const waiting = page.locator(".said.waiting");
  await expect(waiting).toHaveText(["find TODO"]);
  await ask(page, "read LONG.md");
  await expect(waiting).toHaveText(["find TODO", "read LONG.md"]);
  await page.reload();
  await expect(waiting).toHaveText(["find TODO", "read LONG.md"]);
  await page.getByRole("button", { name: "Remove" }).last().click();
  await expect(waiting).toHaveText(["find TODO"]);

  await daemon.restart();
  await expect(requests(page)).toHaveCount(1, { timeout: 30_000 });
  await waitUntilDone(page);
  await page.reload();
  await expect(requests(page)).toHaveCount(1);
  await expect(lastRequest(page).locator(".said")).toHaveText("find TODO");
});

test("a session that could not be started says why beside what was written for it", async ({
  page,
  daemon,
  project,
}) => {
  await settleIn(page, daemon, project.path);
  await startSessionOffline(page, daemon, { folder: `${project.path}/gone`, question: "help" });
  await ask(page, "find TODO");
  await expect(page.locator(".said.waiting")).toHaveCount(2);
  await daemon.restart();
  await expect(page.getByRole("heading", { name: "This session was not started" })).toBeVisible({
    timeout: 30_000,
  });
  const notice = page.locator(".notice");
  await expect(notice).toHaveCount(1);
  await expect(notice).toContainText("2 prompts were refused. There is no folder at this path.");
  await expect(notice).toContainText("find TODO");
  await page.reload();
  await expect(notice).toContainText("There is no folder at this path.");
  await notice.getByRole("button", { name: "Dismiss" }).press("Enter");
  await expect(notice).toHaveCount(0);
  await page.reload();
  await expect(page.locator(".foot .sync")).toContainText("Synced");
  await expect(notice).toHaveCount(0);
});

test("[F1] what was running when the daemon was last heard is not shown as running", async ({
  page,
  daemon,
  project,
}) => {
  await settleIn(page, daemon, project.path);
  await expect(page.locator(".app")).not.toHaveAttribute("data-cut-off");
  await ask(page, "read LONG.md");
  await waitUntilStreaming(page, 30);
  await daemon.kill();
  await expect(page.locator(".item[aria-current]")).toContainText("was running");
  await expect(page.locator(".app")).toHaveAttribute("data-cut-off");
  await page.reload();
  await expect(page.getByText("Was working when the connection was lost")).toBeVisible();
});
