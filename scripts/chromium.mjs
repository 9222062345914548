// Finds a Chromium that starts, else installs one.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { ROOT } from "./one-at-a-time.mjs";
import { WordedError } from "./worded-error.mjs";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The path of a Chromium that starts. Rejects with a `WordedError` that says what is missing. */
export async function ensureChromium() {
  const named = process.env.CHROMIUM_BIN;
  if (named) {
    if (starts(named)) return named;
    throw new WordedError(`CHROMIUM_BIN names ${named}, which does not start.`);
  }
  const found = systemChromium() ?? (await playwrightsOwn());
  if (found !== null) return found;
  process.stderr.write("No Chromium here: installing Playwright's…\n");
  const cli = join(ROOT, "node_modules", "@playwright", "test", "cli.js");
  run(process.execPath, [cli, "install", "chromium"]);
  const own = await playwrightsOwn();
  if (own !== null) return own;
  if (process.getuid?.() === 0 && pathOf("apt-get") !== null) {
    process.stderr.write("Playwright's does not start here: installing the distribution's…\n");
    run("apt-get", ["update"]);
    run("apt-get", ["install", "-y", "-o", "DPkg::Lock::Timeout=300", "chromium"]);
    const packaged = systemChromium();
    if (packaged !== null) return packaged;
  }
  throw new WordedError(
    "The browser tests need a Chromium and none could be installed. Install the package `chromium` " +
      "(as root: apt-get install chromium), or name one in CHROMIUM_BIN, and run this again.",
  );
}

/** @param {string} name */
function pathOf(name) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** The path of one that the system has; null if there is none. */
export function systemChromium() {
  return NAMES.map(pathOf).find((path) => path !== null && starts(path)) ?? null;
}

async function playwrightsOwn() {
  const { chromium } = await import("@playwright/test");
  const path = chromium.executablePath();
  return path && existsSync(path) && starts(path) ? path : null;
}

/** Some distributions put a script there that only says how to get a browser. */
function starts(path) {
  const { status, stdout } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 30_000 });
  return status === 0 && /\d+\.\d+/.test(stdout);
}

/** Failing is no error here: what counts is whether there is a browser afterwards. */
function run(program, args) {
  const { error } = spawnSync(program, args, { cwd: ROOT, stdio: ["ignore", 2, 2] });
  if (error) process.stderr.write(`${program}: ${error.message}\n`);
}
