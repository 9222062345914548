// How much JavaScript page and workers fetch before a session shows, in a browser that was never here
// before: as served, gzip.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureChromium } from "../chromium.mjs";
import { startCountingProxy } from "./counting-proxy.mjs";
import { startDaemon } from "./daemon.mjs";

const TARGET_BYTES = 102_400;
const QUESTION = "help";

export async function run() {
  const { chromium } = await import("@playwright/test");
  const executablePath = await ensureChromium();
  const args = ["--disable-background-networking", "--no-first-run"];
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  const browser = await chromium.launch({ executablePath, args });
  const daemon = await startDaemon();
  const proxy = await startCountingProxy(Number(new URL(daemon.origin).port));
  const folder = mkdtempSync(join(tmpdir(), "troupe-bench-folder-"));
  writeFileSync(join(folder, "README.md"), "# Empty\n\nNothing here.\n");
  try {
    const session = await makeSession(browser, daemon, folder);
    const { scripts, ms } = await firstVisit(browser, { daemon, proxy, session });
    const bytes = scripts.reduce((sum, script) => sum + script.bytes, 0);
    for (const script of scripts) {
      process.stderr.write(`${String(script.bytes).padStart(8)}  ${script.use}  ${script.path}\n`);
    }
    return [
      {
        metric: "JavaScript before the first session",
        value: bytes,
        unit: "bytes",
        target: TARGET_BYTES,
      },
      { metric: "first visit to session shown", value: Math.round(ms), unit: "ms", target: 5_000 },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
    proxy.stop();
    await browser.close();
    await daemon.stop();
  }
}

async function makeSession(browser, daemon, folder) {
  const page = await (await browser.newContext()).newPage();
  await page.goto(daemon.launchLink);
  await page.getByRole("combobox", { name: "Folder" }).fill(folder);
  await page.getByRole("textbox", { name: "First question" }).fill(QUESTION);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.locator(".prose .block").first().waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  const session = new URL(page.url()).pathname;
  await page.context().close();
  return session;
}

async function firstVisit(browser, { daemon, proxy, session }) {
  const { hash } = new URL(await daemon.freshLink());
  const page = await (await browser.newContext()).newPage();
  proxy.forget();
  const begun = performance.now();
  await page.goto(`${proxy.origin}${session}${hash}`);
  await page.locator(".prose .block").first().waitFor();
  return { scripts: proxy.scripts(), ms: performance.now() - begun };
}
