// The data folder: made for its owner only.

import { accessSync, constants, mkdirSync } from "node:fs";
import { StartError } from "./start-error.ts";

/** Creates the folder if needed. Throws `StartError` folder_not_writable. */
export function prepareFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartError(
      "folder_not_writable",
      `Cannot write to the folder ${path}: ${reasonOf(error)}.`,
      error,
    );
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  switch (code) {
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EROFS":
      return "the file system is read-only";
    case "ENOSPC":
      return "the disk is full";
    case "ENOTDIR":
    case "EEXIST":
      return "a part of the path is a file";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
