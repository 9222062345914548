// The folder of a session: found, checked, and its git branch read without running git.

import { constants } from "node:fs";
import { access, readFile, realpath, stat } from "node:fs/promises";
import * as path from "node:path";
import { Failure } from "../../shared/protocol/errors.ts";
import { cleanText } from "../../shared/sanitize/clean-text.ts";

/** A leading `~` is the home folder; other relative paths start there too, for a daemon's own folder means nothing to a client. */
function expandFolder(written: string, home: string): string {
  if (written === "~") return home;
  return path.resolve(home, written.startsWith("~/") ? written.slice(2) : written);
}

/** The folder for people: the home folder as `~`. `expandFolder` undoes it. */
export function shownFolder(folder: string, home: string): string {
  const inside = path.relative(home, folder);
  if (inside === "") return "~";
  const isOutside =
    inside === ".." || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside);
  return isOutside ? folder : path.join("~", inside);
}

/** Absolute, links resolved. Throws `Failure` folder_missing or folder_unreadable. */
export async function resolveFolder(written: string, home: string): Promise<string> {
  const wanted = expandFolder(written, home);
  const missing = (why: string) =>
    new Failure("folder_missing", `The folder ${wanted} ${why}.`, { details: { path: wanted } });
  if (wanted.includes("\0")) throw missing("cannot exist: its name holds a NUL character");
  let resolved: string;
  try {
    resolved = await realpath(wanted);
    if (!(await stat(resolved)).isDirectory()) throw missing("is a file, not a folder");
    await access(resolved, constants.R_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EACCES" || code === "EPERM") {
      throw new Failure(
        "folder_unreadable",
        `The daemon has no permission to read the folder ${wanted}.`,
        { details: { path: wanted }, cause: error },
      );
    }
    if (code === "ELOOP") throw missing("is a link that leads in a circle");
    throw missing("does not exist");
  }
  return resolved;
}

/** What git writes there is far shorter; anything else is not read. */
const GIT_FILE_MAX_BYTES = 8 * 1024;
const BRANCH_MAX_CHARS = 250;
const HEAD_REF = /^ref: refs\/heads\/(.+)$/;

/** The branch a folder is on, or the short commit when none; null outside of a repository. */
export async function readBranch(folder: string): Promise<string | null> {
  for (let at = folder; ; at = path.dirname(at)) {
    const head = await readHead(path.join(at, ".git"));
    if (head !== null) {
      const branch = HEAD_REF.exec(head)?.[1];
      if (branch !== undefined) return cleanText(branch).slice(0, BRANCH_MAX_CHARS);
      return /^[0-9a-f]{40,64}$/.test(head) ? head.slice(0, 10) : null;
    }
    if (path.dirname(at) === at) return null;
  }
}

/** `.git` is a folder, or in worktrees and submodules a file that names one. */
async function readHead(dotGit: string): Promise<string | null> {
  try {
    const isFolder = (await stat(dotGit)).isDirectory();
    const gitFolder = isFolder
      ? dotGit
      : /^gitdir: (.+)$/m.exec(await readSmallFile(dotGit))?.[1]?.trim();
    if (gitFolder === undefined) return null;
    const head = path.resolve(path.dirname(dotGit), gitFolder, "HEAD");
    return (await readSmallFile(head)).trim();
  } catch {
    // Not there, or closed to us: no repository as far as anyone can tell.
    return null;
  }
}

/** Empty for what is no regular file or too large: a pipe would never end. */
async function readSmallFile(file: string): Promise<string> {
  const stats = await stat(file);
  return stats.isFile() && stats.size <= GIT_FILE_MAX_BYTES ? readFile(file, "utf8") : "";
}
