// No page has anything that axe objects to: in both themes, on a desk and on a phone.

import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { ask, letIn, startSession, waitUntilDone } from "./workbench.ts";

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

  const context = await browser.newContext();
  const stranger = await context.newPage();
  await stranger.goto(daemon.origin);
  await expect(stranger.getByRole("heading", { name: "not let in yet" })).toBeVisible();
  await expectNoViolations(stranger, "locked out");
  await context.close();
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
