// Takes the pictures in docs/images/ of the real page on a real daemon. Run by hand when the page's
// looks change: node scripts/screenshots.mjs

import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startDaemon } from "./bench/daemon.mjs";
import { ensureBuilt } from "./build.mjs";
import { ensureChromium } from "./chromium.mjs";
import { ensureInstalled } from "./install.mjs";

const IMAGES = fileURLToPath(new URL("../docs/images", import.meta.url));

/** A small project to ask about. */
const FILES = {
  "README.md":
    "# Atlas\n\nAtlas takes large files over HTTP, checks them and hands them to the importer.\n",
  "package.json": `${JSON.stringify(
    {
      name: "atlas",
      version: "2.3.0",
      description: "Uploads that survive bad networks",
      scripts: { start: "node src/main.ts", test: "vitest run" },
      dependencies: { ws: "^8.0.0" },
    },
    null,
    2,
  )}\n`,
  "src/main.ts": 'import { serve } from "./http/upload.ts";\n\nawait serve({ port: 8080 });\n',
  "src/http/upload.ts":
    "// One upload: chunks in order, a receipt at the end.\n\nexport interface UploadReceipt {\n  readonly sha256: string;\n  readonly bytes: number;\n}\n\n// TODO: resume after a cut connection.\nexport async function serve(options: { port: number }): Promise<void> {\n  console.log(options.port);\n}\n",
  "src/importer/table.ts":
    "// TODO: stream rows instead of holding them all.\nexport const importTable = (rows: string[][]): number => rows.length;\n",
  "test/upload.test.ts": 'import { test } from "vitest";\n\ntest("gives a receipt", () => {});\n',
  "docs/limits.md": "# Limits\n\nA file may have 4 GiB.\n",
};

function writeProject(folder) {
  for (const [path, text] of Object.entries(FILES)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const git = (...args) => execFileSync("git", ["-C", folder, ...args], { stdio: "ignore" });
  git("init", "-b", "main");
}

async function ask(page, text) {
  await page.getByRole("textbox", { name: "Prompt" }).fill(text);
  await page.keyboard.press("Enter");
  await settled(page);
}

async function settled(page) {
  await page.getByRole("button", { name: "Stop" }).waitFor();
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
}

async function startSession(page, { folder, question }) {
  await page.getByRole("combobox", { name: "Folder" }).fill(folder);
  await page.getByRole("textbox", { name: "First question" }).fill(question);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await settled(page);
}

async function take(page, name, scheme, size) {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize(size);
  await page.waitForTimeout(600);
  await page.screenshot({ path: join(IMAGES, name) });
}

await ensureInstalled();
await ensureBuilt();
const { chromium } = await import("@playwright/test");
const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
const browser = await chromium.launch({ executablePath: await ensureChromium(), args });
const daemon = await startDaemon();
try {
  const folder = join(daemon.home, "code", "atlas");
  writeProject(folder);
  mkdirSync(IMAGES, { recursive: true });
  const desktop = { width: 1440, height: 900 };
  const page = await (await browser.newContext({ viewport: desktop })).newPage();
  await page.goto(daemon.launchLink);
  await take(page, "welcome.png", "light", { width: 1100, height: 900 });
  await page.setViewportSize(desktop);
  await startSession(page, { folder, question: "Find TODO" });
  await page.keyboard.press("Alt+n");
  await startSession(page, { folder, question: "What is in this folder?" });
  await ask(page, "Read src/http/upload.ts");
  await take(page, "workbench-light.png", "light", desktop);
  await take(page, "workbench-dark.png", "dark", desktop);
  await take(page, "phone.png", "light", { width: 390, height: 844 });
} finally {
  await browser.close();
  await daemon.stop();
}
