// Chromium for a measurement.

import { ensureChromium } from "../chromium.mjs";

export async function launchBrowser() {
  const { chromium } = await import("@playwright/test");
  const executablePath = await ensureChromium();
  const args = ["--disable-background-networking", "--no-first-run"];
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  return chromium.launch({ executablePath, args });
}

export const median = (values) =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** The least value that at least 95 of 100 do not exceed. */
export const p95 = (values) =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN;

/** Runs in the page: resolves once it says that it holds all that the daemon has, with the time since the epoch. */
export function waitUntilSynced() {
  const isSynced = () =>
    document.querySelector(".foot .sync")?.textContent?.startsWith("Synced") ?? false;
  return new Promise((resolve) => {
    const look = () => {
      if (!isSynced()) return;
      observer.disconnect();
      resolve(Date.now());
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    look();
  });
}
