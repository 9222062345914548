// No page has anything that axe objects to: in both themes, on a desk and on a phone.

import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { ask, letIn, settleIn, startSession, waitUntilDone } from "./workbench.ts";

const SIZES = { desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } } as const;

async function expectNoViolations(page: Page, where: string): Promise<void> {
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const { violations } = await new AxeBuilder({ page }).analyze();
      const found = violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target)}`,
      );
      expect(found, `${where}, ${size}, ${colorScheme}`).toEqual([]);
    }
  }
  await page.setViewportSize(SIZES.desk);
}

test("the pages have no accessibility violations", async ({ page, browser, daemon, project }) => {
  await letIn(page, daemon);
  await expectNoViolations(page, "welcome");
  await startSession(page, project.path, "What is in this folder?");
  await waitUntilDone(page);
  await expectNoViolations(page, "session");
  await page.goto(`${daemon.origin}/settings/devices`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expectNoViolations(page, "devices");
  await page.keyboard.press("Alt+n");
  await expect(page.getByRole("dialog")).toBeVisible();
  await expectNoViolations(page, "new session");
  await page.goto(`${daemon.origin}/settings/storage`);
  await expect(page.getByRole("radio", { name: "Everything" })).toBeChecked();
  await expectNoViolations(page, "what this browser keeps");

  const context = await browser.newContext();
  const stranger = await context.newPage();
  await stranger.goto(daemon.origin);
  await expect(stranger.getByRole("heading", { name: "not let in yet" })).toBeVisible();
  await expectNoViolations(stranger, "locked out");
  await context.close();
});

test("sharing has none, on either side of the link", async ({ page, browser, daemon, project }) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "help");
  await waitUntilDone(page);
  await page.getByRole("button", { name: "Share" }).click();
  const dialog = page.getByRole("dialog");
  await expectNoViolations(page, "share");
  await dialog.getByRole("button", { name: "Make a link" }).click();
  await expect(dialog.getByText("1 link to this session")).toBeVisible();
  await expectNoViolations(page, "share with a link");

  const context = await browser.newContext();
  const viewer = await context.newPage();
  await viewer.goto(await dialog.getByRole("textbox", { name: "Link" }).inputValue());
  await expect(viewer.getByText("You can read this session.")).toBeVisible();
  await expectNoViolations(viewer, "shared session");
  await page.getByRole("button", { name: "Close" }).click();
  await expect(page.getByRole("img", { name: /^Also open on/ })).toBeVisible();
  await expectNoViolations(page, "session with another device");
  await context.close();
});

test("a prompt that waits and one that is being changed have none", async ({
  page,
  daemon,
  project,
}) => {
  await settleIn(page, daemon, project.path);
  await daemon.kill();
  await expect(page.locator(".foot .sync")).toContainText("Offline");
  await ask(page, "find TODO");
  await ask(page, "help");
  await page.getByRole("button", { name: "Edit" }).first().click();
  await expect(page.getByRole("textbox", { name: "Edit the prompt" })).toBeVisible();
  await expectNoViolations(page, "prompts that wait");
  await page.getByRole("button", { name: "2 changes waiting" }).click();
  const dialog = page.getByRole("dialog", { name: "On its way" });
  await expect(dialog.getByText("find TODO")).toBeVisible();
  await expectNoViolations(page, "what is on its way");
  await dialog
    .getByRole("button", { name: /^Remove/ })
    .last()
    .click();
  await expect(dialog.getByRole("listitem")).toHaveCount(1);
});

test("a session has none in any of its states", async ({ page, daemon, project }) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "Read LONG.md lines 1-30");
  await waitUntilDone(page);
  await ask(page, "Read missing.ts");
  await waitUntilDone(page);
  await expect(page.getByRole("button", { name: "Copy output" })).toBeVisible();
  await expectNoViolations(page, "session with wide code and a failed call");
  await page.getByRole("button", { name: "Session actions" }).click();
  await expect(page.getByRole("menuitem", { name: "Rename…" })).toBeVisible();
  await expectNoViolations(page, "menu");
  await page.keyboard.press("Escape");
});
