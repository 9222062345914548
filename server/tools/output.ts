// Building a tool's output within its limits, saying so where something was left out.

import { TOOL_LINE_MAX_BYTES, TOOL_OUTPUT_MAX_BYTES } from "../../shared/limits.ts";
import { capText, utf8Length } from "../../shared/sanitize/cap-text.ts";

/** Room kept for the notice that says what was cut. */
const NOTICE_ROOM_BYTES = 512;

export interface OutputLines {
  /** False, and nothing added, when the line no longer fits. */
  add(line: string): boolean;
  /** Always fits, if kept to a short line or two. */
  notice(line: string): void;
  text(): string;
}

export function makeOutput(maxBytes = TOOL_OUTPUT_MAX_BYTES): OutputLines {
  const lines: string[] = [];
  let left = maxBytes - NOTICE_ROOM_BYTES;
  return {
    add(line) {
      const bytes = utf8Length(line) + 1;
      if (bytes > left) return false;
      left -= bytes;
      lines.push(line);
      return true;
    },
    notice(line) {
      lines.push(capText(line, NOTICE_ROOM_BYTES - 1).text);
    },
    text: () => lines.join("\n"),
  };
}

/** A line cut at TOOL_LINE_MAX_BYTES, with how long it was. */
export function cutLine(line: string, maxBytes = TOOL_LINE_MAX_BYTES): string {
  const capped = capText(line, maxBytes);
  return capped.isCut ? `${capped.text} [line cut: ${capped.totalBytes} bytes in all]` : line;
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** `312 bytes`, `4.2 KiB`. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 ? String(value) : value.toFixed(value < 10 ? 1 : 0);
  return `${digits} ${bytes === 1 ? "byte" : UNITS[unit]}`;
}

/** `1 file`, `2 files`, `1,204 files`; `entry` → `entries`. */
export function count(n: number, noun: string): string {
  const plural = noun.endsWith("y")
    ? `${noun.slice(0, -1)}ies`
    : /(?:ch|s)$/.test(noun)
      ? `${noun}es`
      : `${noun}s`;
  return `${n.toLocaleString("en-US")} ${n === 1 ? noun : plural}`;
}
