// The daemon's log: JSON lines on standard error or in a file, written at once, so that the last line
// before a crash is there.

import pino from "pino";
import type { Log } from "../log.ts";
import type { LogLevel } from "./arguments.ts";
import { StartError } from "./start-error.ts";

export function openLog(level: LogLevel, file: string | null): Log {
  try {
    const destination = pino.destination({
      dest: file ?? 2,
      append: true,
      mkdir: file !== null,
      sync: true,
    });
    return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
  } catch (error) {
    throw new StartError(
      "folder_not_writable",
      `Cannot write the log file ${file}: ${error instanceof Error ? error.message : error}`,
      error,
    );
  }
}
