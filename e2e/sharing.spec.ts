// A link that shares one session: what it lets another browser see, and how that ends.

import type { Browser, Page } from "@playwright/test";
import type { Daemon } from "./daemon.ts";
import { expect, test } from "./fixtures.ts";
import {
  ask,
  expectWholeFile,
  lastRequest,
  letIn,
  requests,
  settleIn,
  startAnotherSession,
  startSession,
  waitUntilDone,
  waitUntilInstalled,
} from "./workbench.ts";

/** Makes a link to the session that the page shows, and returns it. */
async function makeShareLink(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Share" }).click();
  const dialog = page.getByRole("dialog", { name: "Share this session" });
  await dialog.getByRole("button", { name: "Make a link" }).click();
  await expect(dialog.getByText("shown only now")).toBeVisible();
  const link = await dialog.getByRole("textbox", { name: "Link" }).inputValue();
  await dialog.getByRole("button", { name: "Close" }).click();
  return link;
}

async function takeBackShareLink(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Share" }).click();
  const dialog = page.getByRole("dialog", { name: "Share this session" });
  await dialog.getByRole("button", { name: /^Take back/ }).click();
  await expect(dialog.getByText(/link(s)? to this session/)).toHaveCount(0);
  await dialog.getByRole("button", { name: "Close" }).click();
}

async function openAsStranger(browser: Browser, link: string): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  return page;
}

const readOnly = (page: Page) => page.getByText("You can read this session.");

/** The daemon with two sessions; the page shows the second. */
async function makeTwoSessions(page: Page, daemon: Daemon, folder: string): Promise<void> {
  await letIn(page, daemon);
  await startSession(page, folder, "help");
  await waitUntilDone(page);
  await startAnotherSession(page, folder, "find TODO");
  await waitUntilDone(page);
}

test("[F9] a share link lets another browser read one session as it goes on, and nothing else", async ({
  page,
  browser,
  daemon,
  project,
}) => {
  await makeTwoSessions(page, daemon, project.path);
  const viewer = await openAsStranger(browser, await makeShareLink(page));
  await expect(requests(viewer)).toHaveCount(1);
  expect(new URL(viewer.url()).hash).toBe("");
  await expect(readOnly(viewer)).toBeVisible();
  await expect(viewer.locator(".item")).toHaveCount(1);
  for (const name of ["New session", "Share", "Send"]) {
    await expect(viewer.getByRole("button", { name })).toHaveCount(0);
  }
  await expect(viewer.getByRole("textbox", { name: "Prompt" })).toHaveCount(0);
  await viewer.keyboard.press("Alt+n");
  await expect(viewer.getByRole("dialog")).toHaveCount(0);

  await ask(page, "read LONG.md");
  await expect(requests(viewer)).toHaveCount(2);
  await Promise.all([waitUntilDone(page), waitUntilDone(viewer)]);
  await expectWholeFile(lastRequest(viewer));
  await page.getByRole("button", { name: "Share" }).click();
  await expect(page.getByRole("dialog").getByText(/^Read by/)).toBeVisible();
  await viewer.context().close();
});

test("[F9] a shared session can be read without the daemon, goes when it is taken back, and comes again", async ({
  page,
  browser,
  daemon,
  project,
}) => {
  await makeTwoSessions(page, daemon, project.path);
  const viewer = await openAsStranger(browser, await makeShareLink(page));
  await expect(requests(viewer)).toHaveCount(1);
  await waitUntilInstalled(viewer);
  await daemon.kill();
  await viewer.reload();
  await expect(requests(viewer)).toHaveCount(1);
  await expect(readOnly(viewer)).toBeVisible();
  await expect(viewer.getByRole("button", { name: "New session" })).toHaveCount(0);

  await daemon.restart();
  await expect(page.locator(".foot .sync")).toContainText("Synced", { timeout: 30_000 });
  await expect(viewer.locator(".foot .sync")).toContainText("Synced", { timeout: 30_000 });
  await takeBackShareLink(page);
  const gone = viewer.getByRole("heading", { name: "This session is not shared with you" });
  await expect(gone).toBeVisible();
  await expect(viewer.locator(".item")).toHaveCount(0);
  await viewer.reload();
  await expect(gone).toBeVisible();

  await viewer.goto(await makeShareLink(page));
  await expect(requests(viewer)).toHaveCount(1);
  await expect(viewer.locator(".turn-foot")).toHaveCount(1);
  await viewer.context().close();
});

test("a link that was taken back says so, and shuts nobody out who was in before", async ({
  page,
  browser,
  daemon,
  project,
}) => {
  await makeTwoSessions(page, daemon, project.path);
  const dead = await makeShareLink(page);
  await takeBackShareLink(page);
  const link = await makeShareLink(page);

  const told = (at: Page) => at.getByRole("heading", { name: "This link no longer works" });
  const stranger = await openAsStranger(browser, dead);
  await expect(told(stranger)).toBeVisible();
  await expect(stranger.getByText("It was taken back, or its time is up.")).toBeVisible();

  const viewer = await openAsStranger(browser, link);
  await expect(requests(viewer)).toHaveCount(1);
  await viewer.goto(dead);
  await expect(told(viewer)).toBeVisible();
  await viewer.getByRole("button", { name: "Reload" }).click();
  await expect(requests(viewer)).toHaveCount(1);
  await expect(readOnly(viewer)).toBeVisible();
  await stranger.context().close();
  await viewer.context().close();
});

test("an owner that opens a share link goes on as owner", async ({ page, daemon, project }) => {
  await settleIn(page, daemon, project.path);
  const link = await makeShareLink(page);
  await page.goto("about:blank");
  await page.goto(link);
  await expect(requests(page)).toHaveCount(1);
  expect(new URL(page.url()).hash).toBe("");
  await ask(page, "find TODO");
  await expect(requests(page)).toHaveCount(2);
});
