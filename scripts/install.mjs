// Brings node_modules in line with package-lock.json, and does nothing if it already is.

import "./node-version.mjs";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { oneAtATime, ROOT } from "./one-at-a-time.mjs";
import { WordedError } from "./worded-error.mjs";

/** The native module is built for one of these; npm does not notice when it changes. */
const ABI = `${process.platform}-${process.arch}-${process.versions.modules}`;
/** Holds the ABI that the native module was last seen to work with. */
const ABI_STAMP = join(ROOT, "node_modules", ".troupe-abi");

/** Resolves to true if it had to install or to compile. Rejects with a `WordedError`. */
export async function ensureInstalled() {
  if (isComplete()) return false;
  return oneAtATime(async () => {
    // Another process may have done it meanwhile.
    if (isComplete()) return false;
    if (!isInstalled()) {
      process.stderr.write(
        "Installing dependencies (two to three minutes where parts must be compiled)…\n",
      );
      await npm(["ci", "--include=dev", "--no-audit", "--no-fund"]);
    }
    if (!isNativeSound()) {
      process.stderr.write("Building better-sqlite3 for this Node…\n");
      // Said here, since a user's configuration may keep install scripts from running.
      await npm(["rebuild", "better-sqlite3", "--ignore-scripts=false"]);
    }
    if (!isNativeSound()) {
      throw new WordedError(
        "better-sqlite3 is installed but does not load in this Node. Delete node_modules and try again.",
      );
    }
    rememberAbi();
    return true;
  });
}

/** All packages are there, and the native one works in this Node. */
function isComplete() {
  if (!isInstalled()) return false;
  if (readText(ABI_STAMP) === ABI) return true;
  if (!isNativeSound()) return false;
  rememberAbi();
  return true;
}

/** Asked of another process, because a native module that failed to load cannot be tried again in this one. */
function isNativeSound() {
  const program = "new (require('better-sqlite3'))(':memory:').close()";
  return spawnSync(process.execPath, ["-e", program], { cwd: ROOT, stdio: "ignore" }).status === 0;
}

function rememberAbi() {
  try {
    writeFileSync(ABI_STAMP, ABI);
  } catch (error) {
    // A checkout that cannot be written to works as well; it is looked at again each time.
    if (!["EROFS", "EACCES", "EPERM"].includes(error.code)) throw error;
  }
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
    child.on("error", (error) =>
      reject(new WordedError(`Cannot run npm, which comes with Node: ${error.message}`)),
    );
    child.on("close", resolve);
  });
  if (code !== 0) throw new WordedError(`npm ${args[0]} failed.${compilerAdvice(tail)}`);
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
