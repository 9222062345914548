// Being let in again: by a daemon that was set up anew, and after a revocation.

import { rmSync } from "node:fs";
import { expect, test } from "./fixtures.ts";
import {
  ask,
  letIn,
  openAnotherBrowser,
  requests,
  settleIn,
  startSession,
  startSessionOffline,
  waitUntilDone,
} from "./workbench.ts";

test("[H2] a daemon with another key is shown loudly, and a link opened after that pairs with it", async ({
  page,
  daemon,
  project,
}) => {
  await settleIn(page, daemon, project.path);
  await startSessionOffline(page, daemon, { folder: project.path, question: "find TODO" });
  await expect(
    page.getByText("Will be sent when the daemon is back", { exact: true }),
  ).toBeVisible();
  const unsent = page.url();

  rmSync(daemon.dataDir, { recursive: true });
  await daemon.restart();
  const loud = page.getByRole("heading", { name: "This is not the daemon this browser knows" });
  await expect(loud).toBeVisible({ timeout: 40_000 });
  const [known, offered] = await page.locator("dl.keys .fp").allTextContents();
  expect(known).not.toBe(offered);
  await page.reload();
  await expect(loud).toBeVisible();

  await page.goto(await daemon.launchLink());
  await expect(page.getByRole("navigation").getByText("find TODO")).toBeVisible();
  await expect(page.getByRole("navigation").getByText("help")).toHaveCount(0);
  await page.goto(unsent);
  await expect(requests(page)).toHaveCount(1);
  await waitUntilDone(page);
});

test("[H6] a revoked browser is told at once and on every visit, and a fresh link lets it in", async ({
  page,
  browser,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  const path = await startSession(page, project.path, "help");
  await waitUntilDone(page);
  const other = await openAnotherBrowser(browser, daemon, path);
  await expect(requests(other)).toHaveCount(1);
  await page.goto(`${daemon.origin}/settings/devices`);
  await expect(page.getByText("this one")).toBeVisible();
  await page
    .locator("tr", { hasNotText: "this one" })
    .getByRole("button", { name: /^Revoke/ })
    .click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Revoke" }).click();
  const told = other.getByRole("heading", { name: "This browser's access was revoked" });
  await expect(told).toBeVisible();
  await other.reload();
  await expect(told).toBeVisible();
  const { hash } = new URL(await daemon.launchLink());
  await other.goto(`${daemon.origin}${path}${hash}`);
  await expect(requests(other)).toHaveCount(1);
  await ask(other, "help");
  await expect(requests(other)).toHaveCount(2);
  await other.context().close();
});
