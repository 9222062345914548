// Puts findings of a search into words for the model, files in the order of their paths.

import type { GrepArguments } from "./grep-arguments.ts";
import { type FoundFile, type GrepFindings, MATCHED_LINES_MAX } from "./grep-records.ts";
import { count, makeOutput, type OutputLines } from "./output.ts";
import type { RipgrepEnd } from "./ripgrep.ts";

export function showFindings(args: GrepArguments, findings: GrepFindings, end: RipgrepEnd): string {
  const output = makeOutput();
  const files = [...findings.files.values()]
    .filter((file) => file.matched > 0)
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  if (files.length === 0) {
    output.add(
      end.tooLong > 0 ? "No matches found in lines short enough to show." : "No matches found.",
    );
    if (end.tooLong === 0 && !args.regex && /[\\^$.|?*+()[\]{}]/.test(args.pattern)) {
      output.notice(
        "(The pattern was taken literally because regex is false; it looks like a regular expression.)",
      );
    }
  } else {
    const gaveUp = findings.filesSearched === null ? "at least " : "";
    output.add(
      `matches: ${gaveUp}${findings.matchedLines} lines in ${gaveUp}${files.length} files`,
    );
    showByMode(args, files, output);
    if (gaveUp) {
      output.notice(
        `[the search was given up after ${MATCHED_LINES_MAX} matching lines; narrow it]`,
      );
    }
  }
  if (findings.filesSearched !== null) output.notice(`files searched: ${findings.filesSearched}`);
  if (end.exitCode === 2) output.notice("[some files could not be read]");
  if (end.tooLong > 0) output.notice(`[left out: ${count(end.tooLong, "line")} too long to show]`);
  return output.text();
}

function showByMode(args: GrepArguments, files: readonly FoundFile[], output: OutputLines): void {
  const shown =
    args.output_mode === "content"
      ? showLines(files, args.max_results, output)
      : showPaths(files, args, output);
  if (shown.done < shown.of) {
    output.notice(
      `[cut: ${shown.done} of ${shown.of} ${shown.what} shown; narrow the pattern, path or include, or raise max_results (200 at most)]`,
    );
  }
}

interface Shown {
  readonly done: number;
  readonly of: number;
  readonly what: string;
}

function showPaths(files: readonly FoundFile[], args: GrepArguments, output: OutputLines): Shown {
  let done = 0;
  for (const { path, matched } of files.slice(0, args.max_results)) {
    if (!output.add(args.output_mode === "count" ? `${path}: ${matched}` : path)) break;
    done += 1;
  }
  return { done, of: files.length, what: "files" };
}

/** A matching line has `:` behind its number, a line around it `-`. */
function showLines(files: readonly FoundFile[], max: number, output: OutputLines): Shown {
  const of = files.reduce((sum, file) => sum + file.matched, 0);
  let done = 0;
  for (const file of files) {
    if (done >= max || !output.add(file.path)) break;
    let previous: number | null = null;
    for (const line of file.lines) {
      if (line.isMatch && done >= max) break;
      if (previous !== null && line.number > previous + 1 && hasContext(file)) output.add("  --");
      if (!output.add(`  ${line.number}${line.isMatch ? ":" : "-"} ${line.text}`)) {
        return { done, of, what: "matching lines" };
      }
      previous = line.number;
      if (line.isMatch) done += 1;
    }
  }
  return { done, of, what: "matching lines" };
}

const hasContext = (file: FoundFile): boolean => file.lines.length > file.matched;
