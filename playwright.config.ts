// The browser tests: each drives a real daemon of its own in a real Chromium.

import { defineConfig } from "@playwright/test";
import { systemChromium } from "./scripts/chromium.mjs";

// `npm test` names the one it found or installed.
const chromium = process.env.CHROMIUM_BIN ?? systemChromium();
const isRoot = process.getuid?.() === 0;

export default defineConfig({
  testDir: "e2e",
  workers: 2,
  retries: 0,
  forbidOnly: Boolean(process.env.CI),
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: process.env.PLAYWRIGHT_JSON_OUTPUT_NAME ? [["list"], ["json"]] : [["list"]],
  use: {
    launchOptions: {
      // None: Playwright's own.
      ...(chromium !== null && { executablePath: chromium }),
      args: [
        "--disable-background-networking",
        "--no-first-run",
        // Chromium refuses its own sandbox to root.
        ...(isRoot ? ["--no-sandbox"] : []),
      ],
    },
    screenshot: "only-on-failure",
    trace: "off",
  },
});
