// Lets one process at a time install or build in this checkout. The others wait, and then find that
// what they wanted is done.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { WordedError } from "./worded-error.mjs";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
const LOCK = join(ROOT, "dist", ".lock");
const LOOK_AGAIN_MS = 200;

/**
 * Runs `work` while no other process does. Rejects with a `WordedError` where nothing can be written,
 * and with what `work` rejects with.
 * @template T
 * @param {() => Promise<T>} work
 * @param {string} lock a file that is there while somebody works
 * @returns {Promise<T>}
 */
export async function oneAtATime(work, lock = LOCK) {
  await take(lock);
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** @param {string} lock */
async function take(lock) {
  try {
    mkdirSync(dirname(lock), { recursive: true });
  } catch (error) {
    throw notWritable(lock, error);
  }
  let hasSaidSo = false;
  while (!tryToTake(lock)) {
    const holder = readHolder(lock);
    if (holder !== null && !isAlive(holder)) {
      // It was interrupted; what it left half done is noticed by whoever is next.
      rmSync(lock, { force: true });
      continue;
    }
    if (!hasSaidSo) {
      process.stderr.write(
        `Waiting for process ${holder ?? ""}, which installs or builds here too (${lock})…\n`,
      );
    }
    hasSaidSo = true;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

/** @param {string} lock */
function tryToTake(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw notWritable(lock, error);
  }
}

const notWritable = (lock, error) =>
  new WordedError(
    `${ROOT} has to be installed or built, which needs to write ${lock}: ${error.message}`,
  );

/**
 * Null while the file is being written, or when it has just gone.
 * @param {string} lock
 */
function readHolder(lock) {
  try {
    return Number(readFileSync(lock, "utf8")) || null;
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    return error.code !== "ESRCH";
  }
}
