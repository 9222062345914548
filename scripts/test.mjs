// npm test: all checks, from a fresh clone on. Every step that can run does, whatever failed before
// it; the last line is always "N passed, N failed".

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureInstalled } from "./install.mjs";
import { ROOT } from "./one-at-a-time.mjs";
import { WordedError } from "./worded-error.mjs";

const reports = mkdtempSync(join(tmpdir(), "troupe-test-"));
const vitestReport = join(reports, "vitest.json");
const playwrightReport = join(reports, "playwright.json");

/** @typedef {{ name: string, seconds: number, ok: boolean, passed: number, failed: number, note: string }} Outcome */

/** @type {Outcome[]} */
const outcomes = [];

/**
 * Runs one step and remembers how it went. A step that fails without saying which test did counts as
 * one failure, so that the totals never look better than the run was.
 * @param {string} name
 * @param {() => Promise<{ passed?: number, failed?: number, note?: string } | void>} work
 */
async function step(name, work) {
  process.stdout.write(`\n── ${name}\n`);
  const begun = performance.now();
  const outcome = { name, seconds: 0, ok: true, passed: 0, failed: 0, note: "" };
  try {
    Object.assign(outcome, await work());
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    Object.assign(outcome, error.counts, { ok: false, note: error.message.split("\n")[0] });
  }
  outcome.ok &&= outcome.failed === 0;
  if (!outcome.ok && outcome.failed === 0) outcome.failed = 1;
  outcome.seconds = (performance.now() - begun) / 1000;
  outcomes.push(outcome);
  return outcome.ok;
}

/** Runs a program in Node; rejects unless it ends well. */
async function run(what, args, env = {}) {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status, signal) => resolve(status ?? signal));
  });
  if (code !== 0) throw new Error(`${what} ended with ${code}`);
}

/** Runs a test runner and reads its report, also when it failed. */
async function runTests(what, args, env, count) {
  /** @type {Error | null} */
  let failure = null;
  try {
    await run(what, args, env);
  } catch (error) {
    failure = error;
  }
  let counts = { passed: 0, failed: 0 };
  try {
    counts = count();
  } catch (error) {
    failure ??= new Error(`${what} left no report: ${error.message}`);
  }
  if (failure !== null) throw Object.assign(failure, { counts });
  if (counts.passed === 0) throw Object.assign(new Error(`${what} ran no test`), { counts });
  return counts;
}

const bin = (path) => join(ROOT, "node_modules", path);

function countVitest() {
  const report = JSON.parse(readFileSync(vitestReport, "utf8"));
  const unloadable = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  ).length;
  return { passed: report.numPassedTests, failed: report.numFailedTests + unloadable };
}

function countPlaywright() {
  const { stats, errors } = JSON.parse(readFileSync(playwrightReport, "utf8"));
  return { passed: stats.expected, failed: stats.unexpected + stats.flaky + errors.length };
}

function printSummary() {
  const width = Math.max(...outcomes.map(({ name }) => name.length));
  process.stdout.write("\n");
  for (const { name, ok, seconds, passed, failed, note } of outcomes) {
    const counts = [passed > 0 ? `${passed} passed, ${failed} failed` : "", note].filter(Boolean);
    const line = `${ok ? "ok    " : "FAILED"}  ${name.padEnd(width)}  ${seconds.toFixed(1).padStart(6)} s  ${counts.join(", ")}`;
    process.stdout.write(`${line.trimEnd()}\n`);
  }
  const total = (key) => outcomes.reduce((sum, outcome) => sum + outcome[key], 0);
  process.stdout.write(`\n${total("passed")} passed, ${total("failed")} failed\n`);
}

const isInstalled = await step("install", async () => {
  await ensureInstalled();
});
if (isInstalled) {
  await step("types", () => run("The type check", [join(ROOT, "scripts", "typecheck.mjs")]));
  await step("format and lint", () => run("Biome", [bin("@biomejs/biome/bin/biome"), "ci", "."]));
  await step("unit tests", () =>
    runTests(
      "Vitest",
      [bin("vitest/vitest.mjs"), "run", "--reporter=default", "--reporter=json"].concat(
        `--outputFile.json=${vitestReport}`,
      ),
      {},
      countVitest,
    ),
  );
  const isBuilt = await step("build", async () => {
    const { build } = await import("./build.mjs");
    await build();
  });
  let browser = "";
  const hasBrowser = await step("find a browser", async () => {
    const { ensureChromium } = await import("./chromium.mjs");
    browser = await ensureChromium();
    return { note: browser };
  });
  const hasGit = await step("find git", async () => {
    const { status, stdout } = spawnSync("git", ["--version"], { encoding: "utf8" });
    if (status === 0) return { note: stdout.trim() };
    throw new WordedError(
      "The browser tests need git, which is not on PATH. Install the package git.",
    );
  });
  if (isBuilt && hasBrowser && hasGit) {
    await step("browser tests", () =>
      runTests(
        "Playwright",
        [bin("@playwright/test/cli.js"), "test"],
        { CHROMIUM_BIN: browser, PLAYWRIGHT_JSON_OUTPUT_NAME: playwrightReport },
        countPlaywright,
      ),
    );
  }
}
rmSync(reports, { recursive: true, force: true });
printSummary();
process.exitCode = outcomes.every(({ ok }) => ok) ? 0 : 1;
