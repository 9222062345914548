// Builds page, workers, service worker and daemon into dist/ where the sources have changed since the
// last build. Run as a program, it builds in any case.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./install.mjs";
import { oneAtATime, ROOT } from "./one-at-a-time.mjs";
import { runInWords, WordedError } from "./worded-error.mjs";

const SOURCES = ["web", "workers", "server", "shared", "public"];
const SINGLE_FILES = [
  "package.json",
  "package-lock.json",
  "vite.config.ts",
  "tsconfig.base.json",
  "scripts/precompress.mjs",
  "scripts/trim-marked.mjs",
];
const STAMP = join(ROOT, "dist", ".stamp");
export const DAEMON = join(ROOT, "dist", "server", "main.js");

/** Resolves to true if it had to build. Rejects with a `WordedError`. */
export async function ensureBuilt() {
  if (isBuilt()) return false;
  return oneAtATime(async () => {
    // Another process may have done it meanwhile.
    if (isBuilt()) return false;
    process.stderr.write("Building…\n");
    await buildAll();
    return true;
  });
}

/** Builds in any case. Rejects with a `WordedError`. */
export const build = () => oneAtATime(buildAll);

function isBuilt() {
  return existsSync(STAMP) && existsSync(DAEMON) && readFileSync(STAMP, "utf8") === fingerprint();
}

async function buildAll() {
  // Taken before, so that a change during the build makes the build stale.
  const sources = fingerprint();
  rmSync(STAMP, { force: true });
  const vite = join(ROOT, "node_modules", "vite", "bin", "vite.js");
  const child = spawn(process.execPath, [vite, "build", "--app", "--logLevel", "warn"], {
    cwd: ROOT,
    // Standard output belongs to the daemon's launch link.
    stdio: ["ignore", 2, 2],
  });
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code !== 0) throw new WordedError("The build failed; what went wrong is above.");
  // npm makes a linked command executable once, when it is linked.
  chmodSync(DAEMON, 0o755);
  writeFileSync(STAMP, sources);
}

/** One hash of all that goes into a build. */
function fingerprint() {
  const hash = createHash("sha256").update(process.version);
  const files = SOURCES.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((name) => join(folder, String(name))),
  );
  for (const name of [...SINGLE_FILES, ...files.sort()]) {
    const path = join(ROOT, name);
    if (/\.test\.tsx?$/.test(name) || !statSync(path).isFile()) continue;
    hash.update(name).update("\0").update(readFileSync(path)).update("\0");
  }
  return hash.digest("hex");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runInWords(async () => {
    await ensureInstalled();
    await build();
  });
}
