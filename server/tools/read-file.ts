// read_file: a window of a text file with line numbers. Reads by stream, so a huge file costs no memory.

import { type FileHandle, open, stat } from "node:fs/promises";
import * as z from "zod/mini";
import {
  PATH_MAX_CHARS,
  READ_WINDOW_MAX_LINES,
  TOOL_LINE_MAX_BYTES,
  TOOL_OUTPUT_MAX_BYTES,
  TOOL_TIMEOUT_MS,
} from "../../shared/limits.ts";
import { utf8Length } from "../../shared/sanitize/cap-text.ts";
import { cleanText, codeSpan } from "../../shared/sanitize/clean-text.ts";
import { isBinary, readAt } from "./file-bytes.ts";
import { cutLine, formatSize, makeOutput } from "./output.ts";
import { failed, findPlace, type Place, whyUnreadable } from "./place.ts";
import type { Tool, ToolContext, ToolOutput } from "./tool.ts";

/** For the header's words and numbers; the path comes on top. */
const HEADER_ROOM_BYTES = 128;
const CHUNK_BYTES = 256 * 1024;
/** Behind the window, lines are counted only this far. */
const COUNT_MAX_BYTES = 256 * 1024 * 1024;
/** Kept of a line, so that a file of one endless line costs no memory either. */
const LINE_KEPT_BYTES = TOOL_LINE_MAX_BYTES + 4;

const parameters = z.object({
  path: z.string().check(z.minLength(1), z.maxLength(PATH_MAX_CHARS)),
  start_line: z._default(z.int().check(z.minimum(1)), 1),
  max_lines: z._default(
    z.int().check(z.minimum(1), z.maximum(READ_WINDOW_MAX_LINES)),
    READ_WINDOW_MAX_LINES,
  ),
});

export const readFile: Tool<typeof parameters> = {
  name: "read_file",
  group: "core",
  description:
    "Read a text file with line numbers. Shows up to 2000 lines from start_line; the header says how " +
    "many there are, and a cut says where to read on. Paths are relative to the working folder.",
  parameters,
  timeoutMs: TOOL_TIMEOUT_MS,
  describe: (args) =>
    args.start_line === 1
      ? `Read ${codeSpan(args.path)}`
      : `Read ${codeSpan(args.path)} from line ${args.start_line}`,
  async run(args, context) {
    const found = await findPlace(context.workingDir, args.path);
    if ("failure" in found) return found.failure;
    try {
      const stats = await stat(found.place.absolute);
      if (stats.isDirectory()) {
        return failed(
          `${codeSpan(args.path)} is a folder. Use list_files for what is in it.`,
          "folder",
        );
      }
      if (!stats.isFile())
        return failed(`${codeSpan(args.path)} is not a regular file.`, "not a file");
      const handle = await open(found.place.absolute, "r");
      try {
        return await readWindow(handle, found.place, args, context);
      } finally {
        await handle.close();
      }
    } catch (error) {
      return failed(whyUnreadable(error, args.path));
    }
  },
};

interface Line {
  readonly bytes: Buffer;
  readonly totalBytes: number;
}

interface Scan {
  readonly lines: Line[];
  readonly totalLines: number;
  /** False: counting was given up, there are more. */
  readonly isWhole: boolean;
}

async function readWindow(
  handle: FileHandle,
  place: Place,
  args: z.infer<typeof parameters>,
  context: ToolContext,
): Promise<ToolOutput> {
  const span = codeSpan(place.shown);
  if (await isBinary(handle)) {
    const { size } = await handle.stat();
    return failed(
      `${span} is a binary file (${formatSize(size)}); only text can be read.`,
      "binary",
    );
  }
  const scan = await scanLines(handle, args, context.signal);
  if (scan === null) return failed(`Reading ${span} was stopped.`);
  const { totalLines } = scan;
  const total = scan.isWhole ? `${totalLines}` : `more than ${totalLines}`;
  if (totalLines === 0 && args.start_line === 1) {
    const text = `path: ${cleanText(place.shown)}\nlines: 0 of 0\n(The file is empty.)`;
    return { text, isError: false, description: `Read ${span}, which is empty` };
  }
  if (scan.lines.length === 0) {
    return failed(
      `start_line ${args.start_line} is past the end: ${span} has ${total} lines.`,
      "past the end",
    );
  }
  const decoded = decodeLines(scan);
  if (decoded === null) {
    return failed(`${span} is not UTF-8 text, so it cannot be read as such.`, "not UTF-8");
  }
  return showWindow({ place, first: args.start_line, lines: decoded, total, totalLines });
}

function showWindow(window: {
  place: Place;
  first: number;
  lines: readonly string[];
  total: string;
  totalLines: number;
}): ToolOutput {
  const { first, place, total } = window;
  const shown = cleanText(place.shown);
  const output = makeOutput(TOOL_OUTPUT_MAX_BYTES - utf8Length(shown) - HEADER_ROOM_BYTES);
  let last = first - 1;
  for (const line of window.lines) {
    if (!output.add(`${last + 1} | ${line}`)) break;
    last += 1;
  }
  const header = `path: ${shown}\nlines: ${first}-${last} of ${total}\n`;
  if (last < window.totalLines || total !== String(window.totalLines)) {
    output.notice(
      `[cut: lines ${first}-${last} of ${total} shown; read on with start_line ${last + 1}]`,
    );
  }
  return {
    text: header + output.text(),
    isError: false,
    description: `Read ${codeSpan(place.shown)} ${first === last ? `line ${first}` : `lines ${first}–${last}`}`,
  };
}

/** Null: not UTF-8. */
function decodeLines(scan: Scan): string[] | null {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return scan.lines.map(({ bytes, totalBytes }) => {
      const isCut = totalBytes > bytes.length;
      // A cut may lie inside a character, which is no fault of the file's.
      const text = isCut
        ? new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
        : decoder.decode(bytes);
      const clean = cleanText(text.endsWith("\r") ? text.slice(0, -1) : text).replaceAll("\n", " ");
      if (!isCut) return cutLine(clean);
      return `${cutLine(clean).replace(/ \[line cut:.*$/s, "")} [line cut: ${totalBytes} bytes in all]`;
    });
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** Null: stopped. */
async function scanLines(
  handle: FileHandle,
  window: { start_line: number; max_lines: number },
  signal: AbortSignal,
): Promise<Scan | null> {
  const end = window.start_line + window.max_lines;
  const lines: Line[] = [];
  let number = 1;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let lineBytes = 0;
  let position = 0;

  const take = (piece: Buffer) => {
    lineBytes += piece.length;
    if (number < window.start_line || number >= end || keptBytes >= LINE_KEPT_BYTES) return;
    const part = piece.subarray(0, LINE_KEPT_BYTES - keptBytes);
    kept.push(Buffer.from(part));
    keptBytes += part.length;
  };
  const finishLine = () => {
    if (number >= window.start_line && number < end) {
      lines.push({ bytes: Buffer.concat(kept), totalBytes: lineBytes });
    }
    number += 1;
    kept = [];
    keptBytes = 0;
    lineBytes = 0;
  };

  for (;;) {
    if (signal.aborted) return null;
    const chunk = await readAt(handle, position, CHUNK_BYTES);
    if (chunk.length === 0) break;
    const hasBom = position === 0 && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
    let from = hasBom ? 3 : 0;
    for (let at = chunk.indexOf(0x0a, from); at >= 0; at = chunk.indexOf(0x0a, from)) {
      take(chunk.subarray(from, at));
      finishLine();
      from = at + 1;
    }
    if (from < chunk.length) take(chunk.subarray(from));
    position += chunk.length;
    if (position >= COUNT_MAX_BYTES && number >= end) {
      return { lines, totalLines: number - 1, isWhole: false };
    }
  }
  if (lineBytes > 0) finishLine();
  return { lines, totalLines: number - 1, isWhole: true };
}
