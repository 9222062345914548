// line_count: the lines of a file, or the files and lines of a folder by language.

import { open, stat } from "node:fs/promises";
import * as z from "zod/mini";
import { PATH_MAX_CHARS, TOOL_TIMEOUT_MS } from "../../shared/limits.ts";
import { cleanText, codeSpan } from "../../shared/sanitize/clean-text.ts";
import { isBinary } from "./file-bytes.ts";
import { languageOf } from "./languages.ts";
import { count, makeOutput } from "./output.ts";
import { failed, findPlace, whyUnreadable } from "./place.ts";
import { type RipgrepEnd, runRipgrep } from "./ripgrep.ts";
import type { Tool, ToolContext, ToolOutput } from "./tool.ts";

/** Past these the count is given up and says that there is more. */
const FILES_MAX = 500_000;
const FOLDERS_SHOWN_MAX = 200;

const parameters = z.object({
  path: z._default(z.string().check(z.minLength(1), z.maxLength(PATH_MAX_CHARS)), "."),
});

export const lineCount: Tool<typeof parameters> = {
  name: "line_count",
  group: "core",
  description:
    "Count lines. For a text file: its lines. For a folder: files and lines by language and by " +
    "folder directly inside, all levels down, leaving out what ignore files name. " +
    "Without a path: the working folder.",
  parameters,
  timeoutMs: TOOL_TIMEOUT_MS,
  describe: ({ path }) =>
    path === "." ? "Counted files and lines" : `Counted the lines of ${codeSpan(path)}`,
  async run(args, context) {
    const found = await findPlace(context.workingDir, args.path);
    if ("failure" in found) return found.failure;
    try {
      const { absolute, shown } = found.place;
      return (await stat(absolute)).isDirectory()
        ? await countFolder(absolute, shown, context)
        : await countFile(absolute, shown, context);
    } catch (error) {
      return failed(whyUnreadable(error, args.path));
    }
  },
};

/** Every line matches the empty pattern; binary files are left out; `path NUL count LF` per file. */
const COUNT_ARGS = [
  "--count",
  "--include-zero",
  "--null",
  "--no-messages",
  "--with-filename",
  "--regexp=",
];

async function countFile(file: string, shown: string, context: ToolContext): Promise<ToolOutput> {
  const unfit = () => failed(`${codeSpan(shown)} is not a text file that can be read.`);
  if (!(await stat(file)).isFile()) return unfit();
  const handle = await open(file, "r");
  try {
    if (await isBinary(handle)) return unfit();
  } finally {
    await handle.close();
  }
  let lines: number | null = null;
  const end = await runRipgrep({
    args: [...COUNT_ARGS, "--no-ignore"],
    paths: [file],
    cwd: context.workingDir,
    signal: context.signal,
    onRecord(record) {
      const text = record.toString("utf8");
      if (/\0\d+$/.test(text)) lines = Number(text.slice(text.lastIndexOf("\0") + 1));
      return true;
    },
  });
  if (end.startError !== null) return notStarted(end);
  if (lines === null) return unfit();
  return { text: String(lines), isError: false, note: count(lines, "line") };
}

interface Tally {
  files: number;
  lines: number;
}

async function countFolder(
  folder: string,
  shown: string,
  context: ToolContext,
): Promise<ToolOutput> {
  const byLanguage = new Map<string, Tally>();
  const byFolder = new Map<string, Tally>();
  const total: Tally = { files: 0, lines: 0 };
  let allFiles = 0;
  const search = { paths: [], cwd: folder, signal: context.signal };
  const [counted, listed] = await Promise.all([
    runRipgrep({
      ...search,
      args: COUNT_ARGS,
      onRecord(record) {
        const cut = record.indexOf(0);
        const path = record.toString("utf8", 0, cut).replaceAll("\\", "/").replace(/^\.\//, "");
        const lines = Number(record.toString("latin1", cut + 1));
        if (cut < 0 || !Number.isSafeInteger(lines)) return true;
        add(total, lines);
        add(entry(byLanguage, languageOf(path)), lines);
        const slash = path.indexOf("/");
        if (slash > 0) add(entry(byFolder, path.slice(0, slash)), lines);
        return total.files < FILES_MAX;
      },
    }),
    runRipgrep({
      ...search,
      args: ["--files", "--null", "--no-messages"],
      separator: "\0",
      onRecord() {
        allFiles += 1;
        return allFiles < FILES_MAX;
      },
    }),
  ]);
  if (counted.startError !== null) return notStarted(counted);
  if (context.signal.aborted) return failed("Counting was stopped.");
  const isWhole = total.files < FILES_MAX && allFiles < FILES_MAX && listed.startError === null;
  const output = makeOutput();
  output.add(`path: ${cleanText(shown)}`);
  output.add(
    `total: ${allFiles} files, ${total.lines} lines in ${total.files} text files, ${Math.max(0, allFiles - total.files)} binary or unreadable`,
  );
  if (!isWhole) output.add(`(Counting was given up at ${FILES_MAX} files; there are more.)`);
  addSection(output, "languages:", byLanguage, (name) => name);
  addSection(output, "folders:", byFolder, (name) => `${cleanText(name).replaceAll("\n", "\\n")}/`);
  return {
    text: output.text(),
    isError: false,
    description:
      shown === "."
        ? `Counted ${count(total.lines, "line")} in ${count(total.files, "text file")}`
        : `Counted ${count(total.lines, "line")} in ${count(total.files, "text file")} of ${codeSpan(shown)}`,
    note: count(allFiles, "file"),
  };
}

function addSection(
  output: ReturnType<typeof makeOutput>,
  heading: string,
  tallies: ReadonlyMap<string, Tally>,
  show: (name: string) => string,
): void {
  const sorted = [...tallies].sort(
    ([a, x], [b, y]) => y.lines - x.lines || y.files - x.files || (a < b ? -1 : 1),
  );
  if (sorted.length === 0 || !output.add(heading)) return;
  for (const [name, { files, lines }] of sorted.slice(0, FOLDERS_SHOWN_MAX)) {
    output.add(`  ${show(name)}  ${files} files, ${lines} lines`);
  }
  const rest = sorted.length - FOLDERS_SHOWN_MAX;
  if (rest > 0) output.add(`  (and ${rest} more)`);
}

const notStarted = (end: RipgrepEnd): ToolOutput =>
  failed(`The program that walks folders could not be started: ${end.startError}`);

function add(tally: Tally, lines: number): void {
  tally.files += 1;
  tally.lines += lines;
}

function entry(tallies: Map<string, Tally>, name: string): Tally {
  const tally = tallies.get(name) ?? { files: 0, lines: 0 };
  tallies.set(name, tally);
  return tally;
}
