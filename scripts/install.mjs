// Brings node_modules in line with package-lock.json, and does nothing if it already is.

import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Native modules are built for one of these; npm does not notice when it changes. */
const ABI = `${process.platform}-${process.arch}-${process.versions.modules}`;
const ABI_STAMP = join(ROOT, "node_modules", ".troupe-abi");

/** Resolves to true if it had to install. Rejects with a worded error. */
export async function ensureInstalled() {
  if (!isInstalled()) {
    process.stderr.write(
      "Installing dependencies (two to three minutes where parts must be compiled)…\n",
    );
    await npm(["ci", "--include=dev", "--no-audit", "--no-fund"]);
  } else if (readText(ABI_STAMP) !== null && readText(ABI_STAMP) !== ABI) {
    process.stderr.write("Node has changed: rebuilding native modules…\n");
    await npm(["rebuild"]);
  } else {
    return false;
  }
  writeFileSync(ABI_STAMP, ABI);
  return true;
}

/** npm writes node_modules/.package-lock.json last, so it is there only after a whole install. */
function isInstalled() {
  const wanted = readText(join(ROOT, "package-lock.json"));
  const present = readText(join(ROOT, "node_modules", ".package-lock.json"));
  if (wanted === null || present === null) return false;
  const wantedPackages = JSON.parse(wanted).packages;
  const presentPackages = JSON.parse(present).packages;
  return Object.entries(wantedPackages).every(([path, entry]) => {
    if (path === "") return true;
    const found = presentPackages[path];
    // Optional parts are those of other platforms.
    if (found === undefined) return entry.optional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

/** @param {string} path */
function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

/** @param {string[]} args */
async function npm(args) {
  const cli = process.env.npm_execpath;
  const [program, first] = cli?.endsWith(".js") ? [process.execPath, [cli]] : ["npm", []];
  const child = spawn(program, [...first, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "pipe"],
    env: { ...headersOfThisNode(), ...process.env },
    shell: program === "npm" && process.platform === "win32",
  });
  let tail = "";
  child.stderr.on("data", (chunk) => {
    process.stderr.write(chunk);
    tail = (tail + chunk).slice(-20_000);
  });
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code !== 0) throw new Error(`npm ${args[0]} failed.${compilerAdvice(tail)}`);
}

/** Where Node came with its headers, a compilation need not download them. */
function headersOfThisNode() {
  const folder = dirname(dirname(process.execPath));
  const header = readText(join(folder, "include", "node", "node_version.h"));
  const version = ["MAJOR", "MINOR", "PATCH"]
    .map((part) => new RegExp(`#define NODE_${part}_VERSION (\\d+)`).exec(header ?? "")?.[1])
    .join(".");
  return version === process.versions.node ? { npm_config_nodedir: folder } : {};
}

/** @param {string} output */
function compilerAdvice(output) {
  if (!/gyp ERR|node-gyp|prebuild-install|not found: make/.test(output)) return "";
  if (/network connectivity|ENOTFOUND|ECONNREFUSED|ETIMEDOUT/.test(output)) {
    return [
      "",
      "better-sqlite3 has neither a ready-made build within reach nor Node's headers to compile with:",
      "the network does not lead to github.com and nodejs.org. Check the proxy settings, or install",
      "a Node that brings its headers (the package nodejs-dev or libnode-dev, or nodejs.org's archive).",
    ].join("\n");
  }
  return [
    "",
    "better-sqlite3 has no ready-made build for this system and could not be compiled.",
    "What it needs: a C++ compiler, make and Python 3.",
    "  Debian, Ubuntu  apt-get install build-essential python3",
    "  Fedora          dnf install gcc-c++ make python3",
    "  Alpine          apk add build-base python3",
    "  macOS           xcode-select --install",
    "Then run the same command again.",
  ].join("\n");
}
