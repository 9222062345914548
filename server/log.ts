// Where the daemon says what it does. Prompt text, tokens, keys and the fragments of URLs never
// reach it.

export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** Where a bug struck: its kind and the places, not its message, which may quote anything. */
export function traceOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const places = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return [error.name, ...places.map((line) => line.trim())].join(" ");
}
