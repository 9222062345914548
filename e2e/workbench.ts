// What a person does with the page, in their own words.

import { type Browser, expect, type Locator, type Page } from "@playwright/test";
import type { Daemon } from "./daemon.ts";
import { ALL_LONG_LINES } from "./project-folder.ts";

/** Opens a launch link nobody used yet and waits until the page is in. */
export async function letIn(page: Page, daemon: Daemon): Promise<void> {
  await page.goto(await daemon.launchLink());
  await expect(
    page.getByText(/^(Where should your agents work\?|Ask about a folder)$/),
  ).toBeVisible();
}

/** Another browser, with its own storage and its own launch link. */
export async function openAnotherBrowser(
  browser: Browser,
  daemon: Daemon,
  path: string,
): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const { hash } = new URL(await daemon.launchLink());
  await page.goto(`${daemon.origin}${path}${hash}`);
  return page;
}

/** From the welcome sheet to a session that was asked its first question. Returns the session's path. */
export async function startSession(page: Page, folder: string, question: string): Promise<string> {
  await page.getByRole("combobox", { name: "Folder" }).fill(folder);
  await expect(page.getByText(/git · main/)).toBeVisible();
  await page.getByRole("textbox", { name: "First question" }).fill(question);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL(/\/s\/[A-Za-z0-9_-]{16,64}$/);
  return new URL(page.url()).pathname;
}

/** A browser that has all it needs without the daemon: let in, with a finished session, installed. */
export async function settleIn(page: Page, daemon: Daemon, folder: string): Promise<void> {
  await letIn(page, daemon);
  await startSession(page, folder, "help");
  await waitUntilDone(page);
  await waitUntilInstalled(page);
}

/** In the dialog; waits for the page of the session. Returns its path. */
export async function startAnotherSession(
  page: Page,
  folder: string,
  question: string,
): Promise<string> {
  const before = page.url();
  await page.keyboard.press("Alt+n");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Folder" }).fill(folder);
  await expect(dialog.getByText(/git · main/)).toBeVisible();
  await dialog.getByRole("textbox", { name: "First question" }).fill(question);
  await dialog.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL((url) => url.href !== before && url.pathname.startsWith("/s/"));
  return new URL(page.url()).pathname;
}

/** Kills the daemon, then makes a session in the dialog: it waits with its first prompt. */
export async function startSessionOffline(
  page: Page,
  daemon: Daemon,
  session: { folder: string; question: string },
): Promise<void> {
  await daemon.kill();
  await expect(page.locator(".foot .sync")).toContainText("Offline");
  await page.keyboard.press("Alt+n");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("combobox", { name: "Folder" }).fill(session.folder);
  await dialog.getByRole("textbox", { name: "First question" }).fill(session.question);
  await dialog.getByRole("button", { name: "Start", exact: true }).click();
}

export async function ask(page: Page, question: string): Promise<void> {
  const box = page.getByRole("textbox", { name: "Prompt" });
  await box.fill(question);
  await box.press("Enter");
}

/** One prompt with all that it led to. */
export const requests = (page: Page): Locator => page.locator("article.request[data-request]");
export const lastRequest = (page: Page): Locator => requests(page).last();
export const prose = (request: Locator): Locator => request.locator(".prose");

/** The last prompt has led to its end, and nothing is still being painted. */
export async function waitUntilDone(page: Page): Promise<void> {
  const end = lastRequest(page).locator(".turn-foot");
  await expect(end).toHaveCount(1, { timeout: 30_000 });
  await expect(page.getByRole("button", { name: "Stop" })).toHaveCount(0);
  await expect(page.locator(".prose[data-open]")).toHaveCount(0);
}

/** The lines of the long file that an answer shows, in the order shown. */
export async function shownLines(request: Locator): Promise<string[]> {
  const texts = await request.locator(".prose pre").allTextContents();
  return texts.join("\n").match(/^Line \d+ of the long file.*$/gm) ?? [];
}

/** Waits until an answer is under way: some of it is there and more is to come. */
export async function waitUntilStreaming(page: Page, lines: number): Promise<void> {
  const request = lastRequest(page);
  await expect
    .poll(async () => (await shownLines(request)).length, { intervals: [20] })
    .toBeGreaterThan(lines);
}

/** The shell and every long text are on this device: it needs no daemon any more. */
export async function waitUntilInstalled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
  });
  await expect.poll(() => page.evaluate(countWantedTexts)).toBe(0);
}

/** Runs in the page. */
async function countWantedTexts(): Promise<number> {
  const settled = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const database = await settled(indexedDB.open("troupe"));
  const wanted = database.transaction("wanted").objectStore("wanted");
  const count = await settled(wanted.count());
  database.close();
  return count;
}

/** All lines of the long file, once each and in order. Says where it went wrong, not all of it. */
export async function expectWholeFile(request: Locator): Promise<void> {
  await expect
    .poll(async () => firstFault(await shownLines(request)), { timeout: 5_000 })
    .toBe("whole");
}

function firstFault(lines: readonly string[]): string {
  const at = ALL_LONG_LINES.findIndex((line, index) => line !== lines[index]);
  if (at >= 0) return `line ${at + 1} reads ${JSON.stringify(lines[at])}`;
  return lines.length === ALL_LONG_LINES.length ? "whole" : `${lines.length} lines`;
}
