// What a tool said, made fit for the transcript: cleaned once more and within its limit.

import { TOOL_OUTPUT_MAX_BYTES } from "../../shared/limits.ts";
import { capText } from "../../shared/sanitize/cap-text.ts";
import { cleanText } from "../../shared/sanitize/clean-text.ts";

const NOTICE_ROOM_BYTES = 80;

export function boundOutput(text: string): string {
  const clean = cleanText(text);
  const whole = capText(clean, TOOL_OUTPUT_MAX_BYTES);
  if (!whole.isCut) return clean;
  const kept = capText(clean, TOOL_OUTPUT_MAX_BYTES - NOTICE_ROOM_BYTES).text;
  return `${kept}\n[truncated: ${whole.totalBytes} bytes in all]`;
}
