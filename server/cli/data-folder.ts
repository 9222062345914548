// The data folder: made for its owner only.

import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { StartError } from "./start-error.ts";

/** Creates the folder if needed. Throws `StartError` folder_not_writable. */
export function prepareFolder(path: string): void {
  try {
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartError(
      "folder_not_writable",
      `Cannot write to the folder ${path}: ${reasonOf(error)}.`,
      error,
    );
  }
}

/**
 * Not by Node's own `recursive`, which never returns below a folder that answers ENOENT to whatever is
 * to be made in it, as /proc does.
 */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST" && statSync(path).isDirectory()) return;
    const parent = dirname(path);
    if (code !== "ENOENT" || existsSync(parent)) throw error;
    makeFolder(parent);
    makeFolder(path);
  }
}

function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EROFS":
      return "the file system is read-only";
    case "ENOENT":
      return "no folder can be made there";
    case "ENOSPC":
      return "the disk is full";
    case "ENOTDIR":
    case "EEXIST":
      return "a part of the path is a file";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";
