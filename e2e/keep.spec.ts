// What this browser keeps: prompts until they are sent, and of the sessions as much as it was told to.

import { writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Page } from "@playwright/test";
import { type Daemon, startDaemon } from "./daemon.ts";
import { test as base, expect } from "./fixtures.ts";
import {
  ask,
  lastRequest,
  letIn,
  requests,
  settleIn,
  startAnotherSession,
  startSession,
  waitUntilDone,
  waitUntilInstalled,
} from "./workbench.ts";

const MAIN = fileURLToPath(new URL("../dist/server/main.js", import.meta.url));
const DAY_MS = 24 * 60 * 60_000;

interface Fixtures {
  /** A daemon whose clock can be set while it is not running. */
  calendar: { daemon: Daemon; setDaysAgo(days: number): void };
}

const test = base.extend<Fixtures>({
  calendar: async ({ browserName: _ }, use, testInfo) => {
    const program = testInfo.outputPath("daemon.mjs");
    const setDaysAgo = (days: number) =>
      writeFileSync(
        program,
        `const now = Date.now;
Date.now = () => now() - ${days * DAY_MS};
await import(${JSON.stringify(pathToFileURL(MAIN).href)});
`,
      );
    setDaysAgo(40);
    const daemon = await startDaemon(program);
    await use({ daemon, setDaysAgo });
    await daemon.dispose();
  },
});

const waiting = (page: Page) => page.locator(".said.waiting");

test("[F5] a prompt that waits can be changed in its place, and only what it says then is sent", async ({
  page,
  daemon,
  project,
}) => {
  await settleIn(page, daemon, project.path);
  await daemon.kill();
  await expect(page.locator(".foot .sync")).toContainText("Offline");
  await ask(page, "find TODO");
  await expect(waiting(page)).toHaveText(["find TODO"]);

  await page.getByRole("button", { name: "Edit" }).press("Enter");
  const editor = page.getByRole("textbox", { name: "Edit the prompt" });
  await expect(editor).toBeFocused();
  await editor.fill("given up");
  await editor.press("Escape");
  await expect(waiting(page)).toHaveText(["find TODO"]);
  await page.getByRole("button", { name: "Edit" }).click();
  await editor.fill("find coin3");
  await editor.press("Enter");
  await expect(waiting(page)).toHaveText(["find coin3"]);
  await page.reload();
  await expect(waiting(page)).toHaveText(["find coin3"]);
  await expect(
    page.getByText("Will be sent when the daemon is back", { exact: true }),
  ).toBeVisible();

  await daemon.restart();
  await expect(requests(page)).toHaveCount(2, { timeout: 30_000 });
  await expect(lastRequest(page).locator(".said")).toHaveText("find coin3");
  await waitUntilDone(page);
  await expect(waiting(page)).toHaveCount(0);
});

test("[F5] a prompt that is sent while it is being changed is sent as it was, and the change is kept", async ({
  page,
  daemon,
  project,
}) => {
  await settleIn(page, daemon, project.path);
  await daemon.kill();
  await expect(page.locator(".foot .sync")).toContainText("Offline");
  await ask(page, "find TODO");
  await page.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("textbox", { name: "Edit the prompt" }).fill("find coin3");
  await daemon.restart();
  await expect(requests(page)).toHaveCount(2, { timeout: 30_000 });
  await expect(page.getByText("Your change came too late")).toBeVisible();
  await expect(lastRequest(page).locator(".said")).toHaveText("find TODO");
  await expect(page.getByRole("textbox", { name: "Prompt" })).toHaveValue("find coin3");
});

test("[F5] a prompt that the daemon refuses stays with the reason, and can be changed and sent again", async ({
  page,
  daemon,
  project,
}) => {
  await settleIn(page, daemon, project.path);
  // Within the limit by its characters, over it by its bytes.
  await ask(page, "€".repeat(350_000));
  const refused = page.locator("article", { hasText: "Not sent." });
  await expect(refused).toBeVisible();
  await page.reload();
  await expect(refused).toBeVisible();
  await expect(page.locator(".foot .sync")).toContainText("Synced");
  await refused.getByRole("button", { name: "Edit and send again" }).click();
  const editor = page.getByRole("textbox", { name: "Edit the prompt" });
  await editor.fill("find coin3");
  await editor.press("Enter");
  await expect(requests(page)).toHaveCount(2);
  await expect(lastRequest(page).locator(".said")).toHaveText("find coin3");
  await expect(refused).toHaveCount(0);
  await page.reload();
  await expect(requests(page)).toHaveCount(2);
  await expect(refused).toHaveCount(0);
});

test("[F9] what is older than was chosen is left out, said so, and fetched when it is opened", async ({
  page,
  calendar,
  project,
}) => {
  const { daemon, setDaysAgo } = calendar;
  await letIn(page, daemon);
  const old = await startSession(page, project.path, "find TODO");
  await waitUntilDone(page);
  await daemon.stop();
  setDaysAgo(0);
  await daemon.restart();
  await expect(page.locator(".foot .sync")).toContainText("Synced", { timeout: 30_000 });
  const fresh = await startAnotherSession(page, project.path, "help");
  await waitUntilDone(page);
  await waitUntilInstalled(page);

  await page.goto(`${daemon.origin}/settings/storage`);
  await expect(page.getByText("2 sessions, whole")).toBeVisible();
  await page.getByText("The last 7 days").click();
  await expect(page.getByText("1 session whole; of 1 session only the title")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("radio", { name: /^The last 7 days/ })).toBeChecked();

  await daemon.kill();
  await page.goto(`${daemon.origin}${fresh}`);
  await expect(requests(page)).toHaveCount(1);
  await page.locator(`.item[href="${old}"]`).click();
  await expect(page.getByText("This session is not kept in this browser.")).toBeVisible();
  await expect(requests(page)).toHaveCount(0);
  await daemon.restart();
  await expect(requests(page)).toHaveCount(1, { timeout: 30_000 });
  await expect(lastRequest(page).locator(".said")).toHaveText("find TODO");
  await expect(page.getByText("not kept in this browser")).toHaveCount(0);

  await page.goto(`${daemon.origin}/settings/storage`);
  await page.getByText("Everything", { exact: true }).click();
  await expect(page.getByText("2 sessions, whole")).toBeVisible();
  // Which of the two a browser answers is its own affair.
  await page.getByRole("button", { name: "Ask it to keep this" }).click();
  await expect(page.getByText(/It did not agree|promised to keep it/)).toBeVisible();
});
