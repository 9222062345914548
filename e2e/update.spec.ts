// A new version of the app while the old one is open: it waits for a click, and breaks no open tab.

import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "@playwright/test";
import { type Daemon, startDaemon } from "./daemon.ts";
import { test as base, expect } from "./fixtures.ts";
import {
  ask,
  letIn,
  requests,
  startSession,
  waitUntilDone,
  waitUntilInstalled,
} from "./workbench.ts";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));
const TEXTS = [".js", ".css", ".html"];
const COMPRESSED = [".br", ".gz"];

interface Build {
  readonly daemon: Daemon;
  /** Every file of the app gets another name, as a build of changed sources would give it. */
  replace(): void;
  /** From now on the daemon speaks another version of the protocol only. */
  speakOtherProtocol(): Promise<void>;
}

const test = base.extend<{ build: Build }>({
  // Inside the project, where a copy of the program finds its packages.
  build: async ({ browserName: _ }, use, testInfo) => {
    const folder = testInfo.outputPath("dist");
    cpSync(DIST, folder, { recursive: true });
    const program = join(folder, "server", "main.js");
    const daemon = await startDaemon(program);
    await use({
      daemon,
      replace: () => renameAssets(join(folder, "web")),
      async speakOtherProtocol() {
        await daemon.stop();
        const text = readFileSync(program, "utf8");
        const other = text.replace("negotiateVersion([1],", "negotiateVersion([2],");
        expect(other).not.toBe(text);
        writeFileSync(program, other);
        await daemon.restart();
      },
    });
    await daemon.dispose();
    rmSync(folder, { recursive: true });
  },
});

function renameAssets(web: string): void {
  const names = readdirSync(join(web, "assets")).filter((name) => TEXTS.includes(extname(name)));
  const renamed = new Map(names.map((name) => [name, name.replace(/(\.\w+)$/, "-b$1")]));
  const files = readdirSync(web, { recursive: true, encoding: "utf8" });
  for (const file of files) {
    if (COMPRESSED.includes(extname(file))) rmSync(join(web, file));
    if (!TEXTS.includes(extname(file))) continue;
    let text = readFileSync(join(web, file), "utf8");
    for (const [name, other] of renamed) text = text.replaceAll(name, other);
    // The precache tells index.html apart by a checksum.
    if (file === "sw.js")
      text = text.replace(/revision:"[0-9a-f]{32}"|"revision":"[0-9a-f]{32}"/g, '"revision":"b"');
    writeFileSync(join(web, file), text);
  }
  for (const [name, other] of renamed) {
    renameSync(join(web, "assets", name), join(web, "assets", other));
  }
}

/** Of the build that came after. A locator, as pages reload while they are asked. */
const renamedEntry = (page: Page): Locator => page.locator('script[src$="-b.js"]');

test("an update waits for a click, and until then and after it every open tab works", async ({
  page,
  project,
  build,
}) => {
  const { daemon } = build;
  await letIn(page, daemon);
  const path = await startSession(page, project.path, "help");
  await waitUntilDone(page);
  await waitUntilInstalled(page);
  build.replace();

  const tab = await page.context().newPage();
  await tab.goto(`${daemon.origin}${path}`);
  await expect(tab.getByText("Update ready")).toBeVisible();
  await expect(renamedEntry(tab)).toHaveCount(0);
  // A part that this page had not loaded yet, of the version it is.
  await page.goto(`${daemon.origin}${path}`);
  await page.getByRole("link", { name: "Devices" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Devices" })).toBeVisible();

  await tab.getByRole("button", { name: "Reload" }).click();
  await expect(renamedEntry(tab)).toHaveCount(1);
  await expect(requests(tab)).toHaveCount(1);
  await expect(tab.getByText("Update ready")).toHaveCount(0);
  // The other tab is of a version whose parts are gone now, from the browser's cache as well.
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.clearBrowserCache");
  await expect(renamedEntry(page)).toHaveCount(0);
  await page.keyboard.press("Alt+n");
  await expect(renamedEntry(page)).toHaveCount(1);
  await page.keyboard.press("Alt+n");
  await expect(page.getByRole("dialog")).toBeVisible();

  await daemon.kill();
  await tab.goto(`${daemon.origin}${path}#t1`);
  await expect(requests(tab)).toHaveCount(1);
});

test("a part that is gone with its build leads to a reload in words, never to an empty page", async ({
  browser,
  project,
  build,
}) => {
  // As over plain http on a network address: nothing of the old build is kept.
  const context = await browser.newContext({ serviceWorkers: "block" });
  const page = await context.newPage();
  await letIn(page, build.daemon);
  await startSession(page, project.path, "help");
  await waitUntilDone(page);
  build.replace();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.clearBrowserCache");

  await page.keyboard.press("Alt+n");
  const missing = page.getByRole("alertdialog", { name: "Update ready" });
  await expect(missing).toBeVisible();
  await missing.getByRole("button", { name: "Back" }).click();
  await expect(missing).toHaveCount(0);
  await expect(requests(page)).toHaveCount(1);
  await page.getByRole("link", { name: "Devices" }).click();
  await expect(missing.getByRole("button", { name: "Reload" })).toBeFocused();
  await expect(renamedEntry(page)).toHaveCount(0);
  await missing.getByRole("button", { name: "Reload" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Devices" })).toBeVisible();
  await expect(renamedEntry(page)).toHaveCount(1);
  await context.close();
});

test("a page that the daemon no longer speaks with reloads into the one that it came with", async ({
  page,
  project,
  build,
}) => {
  await letIn(page, build.daemon);
  await startSession(page, project.path, "help");
  await waitUntilDone(page);
  await waitUntilInstalled(page);
  build.replace();
  await build.speakOtherProtocol();
  await expect(page.getByRole("heading", { name: "older than the" })).toBeVisible();
  await expect(renamedEntry(page)).toHaveCount(0);
  await page.getByRole("button", { name: "Reload" }).click();
  await expect(renamedEntry(page)).toHaveCount(1);
});

test("without a SharedWorker, tabs of two builds work beside each other", async ({
  page,
  project,
  build,
}) => {
  await page.context().addInitScript(() => Reflect.deleteProperty(globalThis, "SharedWorker"));
  const { daemon } = build;
  await letIn(page, daemon);
  const path = await startSession(page, project.path, "help");
  await waitUntilDone(page);
  await waitUntilInstalled(page);
  const follower = await page.context().newPage();
  await follower.goto(`${daemon.origin}${path}`);
  await expect(requests(follower)).toHaveCount(1);
  build.replace();
  const updated = await page.context().newPage();
  await updated.goto(`${daemon.origin}${path}`);
  await updated.getByRole("button", { name: "Reload" }).click();
  await expect(renamedEntry(updated)).toHaveCount(1);
  await expect(requests(updated)).toHaveCount(1);

  await ask(updated, "find TODO");
  await expect(requests(follower)).toHaveCount(2);
  await page.close();
  await ask(follower, "help");
  for (const tab of [follower, updated]) {
    await expect(requests(tab)).toHaveCount(3);
    await waitUntilDone(tab);
  }
  await expect(renamedEntry(follower)).toHaveCount(0);
});
