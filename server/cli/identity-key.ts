// The daemon's X25519 identity key: one file in the data folder, made once, never replaced silently,
// since every browser has pinned the public half.

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fromBase64Url, toBase64Url } from "../../shared/ids.ts";
import { StartError } from "./start-error.ts";

const KEY_BYTES = 32;

/** The private key's 32 bytes, created if there are none yet. Throws `StartError` identity_unreadable. */
export function readIdentityKey(dataDir: string): Uint8Array {
  const path = join(dataDir, "identity.key");
  const found = readKey(path);
  if (found !== null) return found;
  createKey(path);
  const created = readKey(path);
  if (created === null) throw unreadable(path, "it vanished while it was being made");
  return created;
}

function readKey(path: string): Uint8Array | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw unreadable(path, codeOf(error), error);
  }
  const key = fromBase64Url(text);
  if (key?.length !== KEY_BYTES) throw unreadable(path, "it does not hold a key of 32 bytes");
  return key;
}

/** Whole or not at all, and never over one that another process has made meanwhile. */
function createKey(path: string): void {
  const partial = `${path}.${toBase64Url(randomBytes(9))}`;
  try {
    const file = openSync(partial, "wx", 0o600);
    try {
      writeSync(file, `${toBase64Url(randomBytes(KEY_BYTES))}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    linkSync(partial, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") {
      throw new StartError(
        "folder_not_writable",
        `Cannot write the identity key ${path}: ${codeOf(error)}.`,
        error,
      );
    }
  } finally {
    rmSync(partial, { force: true });
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : String(error);

const unreadable = (path: string, why: string, cause?: unknown): StartError =>
  new StartError(
    "identity_unreadable",
    `Cannot read the daemon's identity key ${path}: ${why}. Restore it from a backup, or move it ` +
      "away: a new one is then made, and every browser has to be let in again.",
    cause,
  );
