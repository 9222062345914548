// Checks the types of every folder under its own tsconfig, two at a time.

import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ensureInstalled } from "./install.mjs";
import { ROOT } from "./one-at-a-time.mjs";
import { runInWords } from "./worded-error.mjs";

/** Each holds a project, and may hold another one for its tests. */
const FOLDERS = ["server", "web", "workers", "shared", "e2e", "web/service-worker", "scripts"];
const PROJECTS = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder))
    .filter((name) => /^tsconfig.*\.json$/.test(name))
    .map((name) => `${folder}/${name}`),
);
const AT_ONCE = 2;

/** @param {string} project */
function check(project) {
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const child = spawn(process.execPath, [tsc, "--pretty", "false", "-p", project], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code === 0));
  });
}

await runInWords(ensureInstalled);
const waiting = [...PROJECTS];
let isSound = true;
const worker = async () => {
  for (let project = waiting.shift(); project; project = waiting.shift()) {
    if (!(await check(project))) {
      isSound = false;
      process.stderr.write(`Types do not hold in ${project}\n`);
    }
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));
process.exitCode = isSound ? 0 : 1;
