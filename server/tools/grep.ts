// grep: searches file contents with ripgrep.

import { stat } from "node:fs/promises";
import * as path from "node:path";
import { TOOL_TIMEOUT_MS } from "../../shared/limits.ts";
import { codeSpan } from "../../shared/sanitize/clean-text.ts";
import { type GrepArguments, grepParameters } from "./grep-arguments.ts";
import { emptyFindings, type GrepFindings, readRecord } from "./grep-records.ts";
import { showFindings } from "./grep-report.ts";
import { count } from "./output.ts";
import { failed, findPlace, whyUnreadable } from "./place.ts";
import { runRipgrep } from "./ripgrep.ts";
import type { Tool, ToolContext, ToolOutput } from "./tool.ts";

export const grep: Tool<typeof grepParameters> = {
  name: "grep",
  group: "core",
  description:
    "Search the contents of files, leaving out binary files and what ignore files name. pattern is a " +
    "regular expression (Rust syntax) unless regex is false. include is a glob that file names must " +
    "match. output_mode: content shows matching lines, files_with_matches paths, count matches per " +
    "file. At most max_results (50, up to 200) are shown; totals are of the whole search.",
  parameters: grepParameters,
  timeoutMs: TOOL_TIMEOUT_MS,
  describe: (args) =>
    `Searched ${codeSpan(args.pattern)}${args.path === "." ? "" : ` in ${codeSpan(args.path)}`}`,
  async run(args, context) {
    if (args.pattern.includes("\0")) return failed("A pattern cannot contain a NUL character.");
    const found = await findPlace(context.workingDir, args.path);
    if ("failure" in found) return found.failure;
    try {
      const stats = await stat(found.place.absolute);
      const isFolder = stats.isDirectory();
      // Named, a pipe or device would be read until the time is up.
      if (!isFolder && !stats.isFile()) {
        return failed(`${codeSpan(args.path)} is not a regular file.`, "not a file");
      }
      const cwd = isFolder ? found.place.absolute : path.dirname(found.place.absolute);
      const prefix = isFolder ? found.place.shown : path.posix.dirname(found.place.shown);
      const paths = isFolder ? [] : [path.basename(found.place.absolute)];
      return await search(args, { cwd, prefix, paths, context });
    } catch (error) {
      return failed(whyUnreadable(error, args.path));
    }
  },
};

interface Where {
  readonly cwd: string;
  /** What stands before the paths that ripgrep prints, `.` for nothing. */
  readonly prefix: string;
  readonly paths: readonly string[];
  readonly context: ToolContext;
}

async function search(args: GrepArguments, where: Where): Promise<ToolOutput> {
  const findings = emptyFindings();
  const end = await runRipgrep({
    args: ripgrepArguments(args),
    paths: where.paths,
    cwd: where.cwd,
    signal: where.context.signal,
    onRecord: (record) => readRecord(findings, record.toString("utf8"), where.prefix),
  });
  if (end.startError !== null) {
    return failed(`The search program could not be started: ${end.startError}`);
  }
  if (where.context.signal.aborted) return failed("The search was stopped.");
  if (end.exitCode === 2 && findings.filesSearched === null) {
    return failed(`The search failed: ${end.stderr.trim()}`, "failed");
  }
  return {
    text: showFindings(args, findings, end),
    isError: false,
    description: sentence(args, findings),
    note: findings.matchedLines === 0 ? "nothing found" : count(findings.matchedLines, "line"),
  };
}

function ripgrepArguments(args: GrepArguments): string[] {
  return [
    "--json",
    "--no-messages",
    ...(args.regex ? [] : ["--fixed-strings"]),
    ...(args.ignore_case ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(args.context > 0 && args.output_mode === "content" ? [`--context=${args.context}`] : []),
    ...(args.include === undefined ? [] : [`--glob=${args.include}`]),
    `--regexp=${args.pattern}`,
  ];
}

function sentence(args: GrepArguments, findings: GrepFindings): string {
  const place = args.path === "." ? "" : ` of ${codeSpan(args.path)}`;
  const files = findings.filesSearched;
  const where = files === null ? "files" : count(files, "file");
  return `Searched ${codeSpan(args.pattern)} in ${where}${place}`;
}
