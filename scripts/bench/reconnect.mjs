// How soon a browser is right again: after a socket that died without a word, after an absence in which
// 100 rows changed, after a cut of three seconds in the middle of an answer.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectAnother } from "./another-device.mjs";
import { launchBrowser, median, p95, waitUntilSynced } from "./browser.mjs";
import { startDaemon } from "./daemon.mjs";
import { loadSource } from "./load-source.mjs";

const RUNS = 12;
const DEATHS = 4;
const CUT_MS = 3_000;
const SESSIONS = 10;
const PROMPTS_PER_ABSENCE = 5;
const LINES = 1_500;

const { makeBadNetwork } = await loadSource("e2e/bad-network.ts");

export async function run() {
  const browser = await launchBrowser();
  const daemon = await startDaemon();
  const network = await makeBadNetwork(daemon.port);
  const folder = mkdtempSync(join(tmpdir(), "troupe-bench-folder-"));
  const line = (_, index) =>
    `Line ${index + 1} of the long file, which is here to be read aloud.\n`;
  writeFileSync(join(folder, "LONG.md"), Array.from({ length: LINES }, line).join(""));
  try {
    const page = await (await browser.newContext()).newPage();
    await page.goto(network.through(daemon.launchLink));
    await ask(page, folder);
    const around = { page, network };
    const deaths = await repeat(DEATHS, (round) => findDead(around, WAKES[round % WAKES.length]));
    const other = await connectAnother(daemon);
    const work = await makeWork(other, folder);
    const absences = await repeat(RUNS, () => comeBack(around, work));
    other.leave();
    const cuts = await repeat(RUNS, () => cutInMidAnswer(around));
    return [
      figure("dead socket noticed after a wake, longest", Math.max(...deaths), 2_000),
      figure("100 rows behind, to all of them stored, p95", p95(absences), 300),
      figure("100 rows behind, to all of them stored, median", median(absences), null),
      figure(`cut for ${CUT_MS / 1000} s in mid-answer, to the whole text, p95`, p95(cuts), 300),
      figure(
        `cut for ${CUT_MS / 1000} s in mid-answer, to the whole text, median`,
        median(cuts),
        null,
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await browser.close();
    await network.dispose();
    await daemon.stop();
  }
}

const figure = (metric, value, target) => ({
  metric,
  value: Math.round(value),
  unit: "ms",
  target,
});

async function repeat(times, once) {
  const values = [];
  for (let round = 0; round < times; round += 1) values.push(await once(round));
  process.stderr.write(`${values.map(Math.round).join(" ")}\n`);
  return values;
}

async function ask(page, folder) {
  await page.getByRole("combobox", { name: "Folder" }).fill(folder);
  await page.getByRole("textbox", { name: "First question" }).fill("help");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await settled(page);
}

async function settled(page) {
  await page.locator("article.request .turn-foot").last().waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  await page.evaluate(waitUntilSynced);
}

const WAKES = ["online", "visible"];

/** From the wake until the page says that it is connecting. */
async function findDead({ page, network }, wake) {
  await page.evaluate(waitUntilSynced);
  network.stall();
  const ms = await page.evaluate(wakeAndWait, wake);
  await page.evaluate(waitUntilSynced);
  return ms;
}

/** Runs in the page. */
function wakeAndWait(wake) {
  const begun = performance.now();
  const noticed = new Promise((resolve) => {
    const look = () => {
      if (document.querySelector(".foot .sync")?.textContent?.startsWith("Synced")) return;
      observer.disconnect();
      resolve(performance.now() - begun);
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  // What a browser does when someone comes back to it; a page of a test is never hidden.
  if (wake === "online") dispatchEvent(new Event("online"));
  else document.dispatchEvent(new Event("visibilitychange"));
  return noticed;
}

/** From when the network is back, and the browser says so, until all that was missed is stored. */
async function comeBack({ page, network }, change) {
  network.cut();
  await page.waitForFunction(() =>
    document.querySelector(".foot .sync")?.textContent?.startsWith("Offline"),
  );
  await change();
  network.restore();
  const begun = Date.now();
  const synced = page.evaluate(waitUntilSynced);
  await page.evaluate(() => dispatchEvent(new Event("online")));
  return (await synced) - begun;
}

/** From when the network is back, which nobody tells, until every line shows. */
async function cutInMidAnswer({ page, network }) {
  const asked = (await page.locator("article.request").count()) + 1;
  const box = page.getByRole("textbox", { name: "Prompt" });
  await box.fill("read LONG.md");
  await box.press("Enter");
  await page.evaluate(waitUntilLines, { request: asked, lines: 50 });
  network.cut();
  await new Promise((resolve) => setTimeout(resolve, CUT_MS));
  const whole = page.evaluate(waitUntilLines, { request: asked, lines: LINES });
  network.restore();
  const begun = Date.now();
  const ms = (await whole) - begun;
  await settled(page);
  return ms;
}

/** Runs in the page: resolves once that answer shows so many lines, with the time since the epoch. */
function waitUntilLines({ request, lines }) {
  const shown = () => {
    const article = document.querySelectorAll("article.request")[request - 1];
    const blocks = article?.querySelectorAll(".prose pre") ?? [];
    const text = [...blocks].map(({ textContent }) => textContent).join("\n");
    return text.match(/^Line \d+ of the long file.*$/gm)?.length ?? 0;
  };
  return new Promise((resolve) => {
    const look = () => {
      if (shown() < lines) return;
      observer.disconnect();
      resolve(Date.now());
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { subtree: true, childList: true, characterData: true });
    look();
  });
}

/** Works in some sessions on another device: gives what leaves 100 rows changed each time, and a few more. */
async function makeWork({ idle, call }, folder) {
  const sessions = [];
  for (let count = 0; count < SESSIONS; count += 1) {
    const { sessionId } = await call("session.create", { workingDir: folder });
    sessions.push(sessionId);
  }
  return async () => {
    for (const sessionId of sessions) {
      for (let count = 0; count < PROMPTS_PER_ABSENCE; count += 1) {
        await call("session.prompt", { sessionId, text: "help" });
      }
    }
    // Each prompt leaves a request and a turn.
    await idle(sessions);
  };
}
