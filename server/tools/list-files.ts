// list_files: what is directly inside a folder, with sizes.

import { lstat, readdir, readlink, stat } from "node:fs/promises";
import * as path from "node:path";
import * as z from "zod/mini";
import { PATH_MAX_CHARS, TOOL_TIMEOUT_MS } from "../../shared/limits.ts";
import { cleanText, codeSpan } from "../../shared/sanitize/clean-text.ts";
import { count, formatSize, makeOutput } from "./output.ts";
import { failed, findPlace, whyUnreadable } from "./place.ts";
import type { Tool } from "./tool.ts";

/** Entries looked at one by one; the rest is only counted. */
const ENTRIES_MAX = 2_000;
const LOOKS_AT_ONCE = 16;

const parameters = z.object({
  path: z._default(z.string().check(z.minLength(1), z.maxLength(PATH_MAX_CHARS)), "."),
});

export const listFiles: Tool<typeof parameters> = {
  name: "list_files",
  group: "core",
  description:
    "List what is directly inside a folder, sorted by name: files with their size, folders (ending in /) " +
    "with how many entries they hold, symbolic links with their target. Without a path: the working folder.",
  parameters,
  timeoutMs: TOOL_TIMEOUT_MS,
  describe: ({ path: written }) =>
    written === "." ? "Listed the working folder" : `Listed ${codeSpan(written)}`,
  async run(args, context) {
    const found = await findPlace(context.workingDir, args.path);
    if ("failure" in found) return found.failure;
    const { absolute, shown } = found.place;
    try {
      if (!(await stat(absolute)).isDirectory()) {
        return failed(
          `${codeSpan(args.path)} is a file. Use read_file to read it.`,
          "not a folder",
        );
      }
      const names = (await readdir(absolute)).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      const entries = await lookAtAll(absolute, names.slice(0, ENTRIES_MAX), context.signal);
      if (entries === null) return failed("Listing was stopped.");
      const sum = (kind: Entry["kind"]) => entries.filter((each) => each.kind === kind).length;
      const bytes = entries.reduce((total, each) => total + each.bytes, 0);
      const output = makeOutput();
      output.add(`path: ${cleanText(shown)}`);
      const kinds = [
        count(sum("folder"), "folder"),
        count(sum("file"), "file"),
        count(sum("link"), "link"),
        ...(sum("other") > 0 ? [count(sum("other"), "other")] : []),
      ];
      const looked = entries.length < names.length ? `of the first ${entries.length}: ` : "";
      output.add(
        `entries: ${names.length} (${looked}${kinds.join(", ")}; files ${formatSize(bytes)})`,
      );
      let listed = 0;
      for (const entry of entries) {
        if (!output.add(entry.line)) break;
        listed += 1;
      }
      if (listed < names.length) {
        output.notice(
          `[cut: ${listed} of ${names.length} entries shown; list a folder further down, or use grep with include]`,
        );
      }
      return { text: output.text(), isError: false, note: count(names.length, "entry") };
    } catch (error) {
      return failed(whyUnreadable(error, args.path));
    }
  },
};

interface Entry {
  readonly kind: "file" | "folder" | "link" | "other";
  readonly bytes: number;
  readonly line: string;
}

/** Null: stopped. */
async function lookAtAll(
  folder: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Entry[] | null> {
  const entries: Entry[] = [];
  for (let from = 0; from < names.length; from += LOOKS_AT_ONCE) {
    if (signal.aborted) return null;
    const some = names.slice(from, from + LOOKS_AT_ONCE);
    entries.push(...(await Promise.all(some.map((name) => lookAt(folder, name)))));
  }
  return entries;
}

async function lookAt(folder: string, name: string): Promise<Entry> {
  const absolute = path.join(folder, name);
  const shown = cleanText(name).replaceAll("\n", "\\n");
  try {
    const stats = await lstat(absolute);
    if (stats.isSymbolicLink()) {
      const target = cleanText(await readlink(absolute)).replaceAll("\n", "\\n");
      return { kind: "link", bytes: 0, line: `${shown} -> ${target}` };
    }
    if (stats.isDirectory()) {
      const inside = await readdir(absolute).then(
        (names) => count(names.length, "entry"),
        () => "not readable",
      );
      return { kind: "folder", bytes: 0, line: `${shown}/  ${inside}` };
    }
    if (stats.isFile()) {
      return { kind: "file", bytes: stats.size, line: `${shown}  ${formatSize(stats.size)}` };
    }
    return { kind: "other", bytes: 0, line: `${shown}  special file` };
  } catch {
    // Gone or closed to us since the folder was read: its name is still what was asked for.
    return { kind: "other", bytes: 0, line: `${shown}  not readable` };
  }
}
