// Reads ripgrep's JSON records into findings. Records come file by file, files in any order.

import { cleanText } from "../../shared/sanitize/clean-text.ts";

/** Matching lines kept and counted; past them the search is given up and says so. */
export const MATCHED_LINES_MAX = 20_000;
/** Shown of a line, around its first match. */
const LINE_SHOWN_CHARS = 400;
const BEFORE_MATCH_CHARS = 120;

export interface FoundLine {
  readonly number: number;
  readonly text: string;
  readonly isMatch: boolean;
}

export interface FoundFile {
  readonly path: string;
  readonly lines: FoundLine[];
  /** Matching lines. */
  matched: number;
}

export interface GrepFindings {
  readonly files: Map<string, FoundFile>;
  matchedLines: number;
  /** Null: the search did not come to its end. */
  filesSearched: number | null;
}

export const emptyFindings = (): GrepFindings => ({
  files: new Map(),
  matchedLines: 0,
  filesSearched: null,
});

/** False once enough was found. */
export function readRecord(findings: GrepFindings, json: string, prefix: string): boolean {
  const record: unknown = JSON.parse(json);
  const type = field(record, "type");
  const data = field(record, "data");
  if (type === "summary") {
    const searches = field(field(data, "stats"), "searches");
    findings.filesSearched = typeof searches === "number" ? searches : null;
    return true;
  }
  if (type !== "match" && type !== "context") return true;
  const file = fileOf(findings, textOf(field(data, "path")), prefix);
  const isMatch = type === "match";
  if (isMatch) {
    file.matched += 1;
    findings.matchedLines += 1;
  }
  const number = field(data, "line_number");
  file.lines.push({
    number: typeof number === "number" ? number : 0,
    text: shownLine(textOf(field(data, "lines")), field(data, "submatches")),
    isMatch,
  });
  return findings.matchedLines < MATCHED_LINES_MAX;
}

function fileOf(findings: GrepFindings, printed: string, prefix: string): FoundFile {
  const relative = printed.replaceAll("\\", "/").replace(/^\.\//, "");
  const path = cleanText(prefix === "." ? relative : `${prefix}/${relative}`).replaceAll(
    "\n",
    "\\n",
  );
  const file = findings.files.get(path) ?? { path, lines: [], matched: 0 };
  findings.files.set(path, file);
  return file;
}

function shownLine(raw: string, submatches: unknown): string {
  const line = raw.replace(/\r?\n$/, "");
  if (line.length <= LINE_SHOWN_CHARS) return cleanText(line).replaceAll("\n", "⏎");
  const first = Array.isArray(submatches) ? field(submatches[0], "start") : 0;
  // Offsets count bytes, so in a line beyond ASCII the window sits a little early or late.
  const from = Math.max(0, (typeof first === "number" ? first : 0) - BEFORE_MATCH_CHARS);
  const start = Math.min(from, Math.max(0, line.length - LINE_SHOWN_CHARS));
  const piece = line.slice(start, start + LINE_SHOWN_CHARS);
  const shown = cleanText(piece).replaceAll("\n", "⏎");
  return `${start > 0 ? "…" : ""}${shown}${start + LINE_SHOWN_CHARS < line.length ? "…" : ""} [line cut: ${line.length} characters in all]`;
}

/** Ripgrep writes what is not UTF-8 as base64. */
function textOf(value: unknown): string {
  const text = field(value, "text");
  if (typeof text === "string") return text;
  const bytes = field(value, "bytes");
  return typeof bytes === "string" ? Buffer.from(bytes, "base64").toString("utf8") : "";
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
