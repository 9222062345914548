// Builds page, workers, service worker and daemon into dist/ where the sources have changed since the
// last build. Run as a program, it builds in any case.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "./install.mjs";

const SOURCES = ["web", "workers", "server", "shared", "public"];
const SINGLE_FILES = [
  "package.json",
  "package-lock.json",
  "vite.config.ts",
  "tsconfig.base.json",
  "scripts/precompress.mjs",
];
const STAMP = join(ROOT, "dist", ".stamp");
export const DAEMON = join(ROOT, "dist", "server", "main.js");

/** Resolves to true if it had to build. */
export async function ensureBuilt() {
  const built = existsSync(STAMP) && existsSync(DAEMON) ? readFileSync(STAMP, "utf8") : null;
  if (built === fingerprint()) return false;
  process.stderr.write("Building…\n");
  await build();
  return true;
}

export async function build() {
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
  if (code !== 0) throw new Error("The build failed; what went wrong is above.");
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
  try {
    await build();
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
