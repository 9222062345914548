// Without a mouse: the focus is never lost, and what happens is said once each time.

import { expect, type Page } from "@playwright/test";
import { test } from "./fixtures.ts";
import { ask, lastRequest, letIn, startSession, waitUntilDone } from "./workbench.ts";

const prompt = (page: Page) => page.getByRole("textbox", { name: "Prompt" });

test("[focus] dialogs begin at what they ask for and give the focus back", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "help");
  await waitUntilDone(page);

  const actions = page.getByRole("button", { name: "Session actions" });
  await actions.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Rename…" }).press("Enter");
  await expect(page.getByRole("textbox", { name: "Name" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(actions).toBeFocused();

  await page.keyboard.press("Alt+n");
  const folder = page.getByRole("combobox", { name: "Folder" });
  await expect(folder).toBeFocused();
  await folder.fill(`${project.path}/`);
  await expect(page.getByRole("option").first()).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("option").first()).toBeHidden();
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(actions).toBeFocused();
});

test("[focus] renaming in place ends on the title, whichever key ends it", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "help");
  await waitUntilDone(page);
  const title = page.getByRole("heading", { level: 1 }).getByRole("button");
  await title.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type("Newspapers");
  await page.keyboard.press("Enter");
  await expect(title).toHaveText("Newspapers");
  await expect(title).toBeFocused();
  await page.keyboard.press("Enter");
  await page.keyboard.type("Nothing");
  await page.keyboard.press("Escape");
  await expect(title).toHaveText("Newspapers");
  await expect(title).toBeFocused();
});

test("[focus] goes on in the prompt when the button it was on is gone", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "Read LONG.md");
  await ask(page, `first ${"word ".repeat(200)}`);
  const remove = page.getByRole("button", { name: /^Remove from the queue: first/ });
  await expect(remove).toBeInViewport();
  const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(width, "a long prompt in the queue widens nothing").toBeLessThanOrEqual(0);
  await remove.press("Enter");
  await expect(remove).toHaveCount(0);
  await expect(prompt(page)).toBeFocused();

  await page.getByRole("button", { name: "Stop" }).press("Enter");
  await expect(page.getByRole("button", { name: "Stop" })).toHaveCount(0);
  await expect(prompt(page)).toBeFocused();

  await page.getByRole("button", { name: /^Actions for/ }).press("Enter");
  await page.getByRole("menuitem", { name: "Delete…" }).press("Enter");
  await page.getByRole("button", { name: "Delete", exact: true }).press("Enter");
  await expect(page.getByRole("heading", { level: 1, name: "Ask about a folder" })).toBeFocused();
});

test("[focus] the list of sessions can be skipped", async ({ page, daemon, project }) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "help");
  await waitUntilDone(page);
  const skip = page.getByRole("button", { name: "Skip the list of sessions" });
  await page.getByRole("link", { name: "Troupe", exact: true }).focus();
  await page.keyboard.press("Shift+Tab");
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press("Enter");
  await expect(prompt(page)).toBeFocused();
});

test("an answer that is finished is said aloud, each time", async ({ page, daemon, project }) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "help");
  await waitUntilDone(page);
  const said = page.getByRole("status").filter({ hasText: "Answer finished." }).locator("p");
  const first = await said.elementHandle();
  await ask(page, "help");
  await expect.poll(() => first?.evaluate((node) => node.isConnected)).toBe(false);
  await waitUntilDone(page);
  await expect(said).toHaveText("Answer finished.");
});

test("what is written from right to left stands so", async ({ page, daemon, project }) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "مرحبا، ما الموجود في هذا المجلد؟");
  await waitUntilDone(page);
  const said = lastRequest(page).locator(".said");
  await expect(said).toHaveCSS("direction", "rtl");
  await expect(lastRequest(page).locator(".prose p").first()).toHaveCSS("direction", "ltr");
});
