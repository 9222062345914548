// folder.describe: what a folder is before a session is made in it.

import { readdir } from "node:fs/promises";
import { Failure } from "../../shared/protocol/errors.ts";
import type { Folder } from "../../shared/protocol/methods.ts";
import { cleanText } from "../../shared/sanitize/clean-text.ts";
import type { Clock } from "../clock.ts";
import { readBranch, resolveFolder, shownFolder } from "../sessions/folder.ts";
import { runRipgrep } from "../tools/ripgrep.ts";
import { query } from "./entry.ts";

const FOLDERS_SHOWN_MAX = 200;
const COUNT_TIMEOUT_MS = 2_000;
const COUNT_MAX_FILES = 200_000;

export const folderMethods = (clock: Clock, home: string) => ({
  "folder.describe": query("folder.describe", async ({ path: written }) =>
    describeFolder(written ?? "~", { clock, home }),
  ),
});

async function describeFolder(
  written: string,
  { clock, home }: { clock: Clock; home: string },
): Promise<Folder> {
  const folder = await resolveFolder(written, home);
  const [branch, fileCount, names] = await Promise.all([
    readBranch(folder),
    countFiles(folder, clock),
    folderNames(folder),
  ]);
  return {
    path: folder,
    shown: shownFolder(folder, home),
    branch,
    fileCount,
    folders: names.slice(0, FOLDERS_SHOWN_MAX),
    foldersLeftOut: Math.max(0, names.length - FOLDERS_SHOWN_MAX),
  };
}

async function folderNames(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory())
      .map((entry) => cleanText(entry.name))
      .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  } catch (error) {
    throw new Failure("folder_unreadable", `The folder ${folder} could not be read.`, {
      details: { path: folder },
      cause: error,
    });
  }
}

/** Null when there are too many to count in the time there is. */
async function countFiles(folder: string, clock: Clock): Promise<number | null> {
  const abort = new AbortController();
  const callOff = clock.after(COUNT_TIMEOUT_MS, () => abort.abort());
  let files = 0;
  const end = await runRipgrep({
    args: ["--files", "--null", "--no-messages"],
    paths: [],
    cwd: folder,
    signal: abort.signal,
    separator: "\0",
    onRecord() {
      files += 1;
      return files <= COUNT_MAX_FILES;
    },
  });
  callOff();
  const isWhole = end.startError === null && !abort.signal.aborted && files <= COUNT_MAX_FILES;
  return isWhole ? files : null;
}
