// Where a path that a model wrote leads. Reading is confined to the working folder, links resolved.

import { realpath } from "node:fs/promises";
import * as path from "node:path";
import { codeSpan } from "../../shared/sanitize/clean-text.ts";
import type { ToolOutput } from "./tool.ts";

export interface Place {
  readonly absolute: string;
  /** Relative to the working folder, with `/`; `.` is the folder itself. */
  readonly shown: string;
}

export const failed = (text: string, note?: string): ToolOutput => ({
  text,
  isError: true,
  ...(note !== undefined && { note }),
});

/** `failure`: what to answer the model, when nothing is there or it may not be read. */
export async function findPlace(
  workingDir: string,
  written: string,
): Promise<{ place: Place } | { failure: ToolOutput }> {
  if (written.includes("\0")) return { failure: failed("A path cannot contain a NUL character.") };
  const root = await realpath(workingDir).catch(() => null);
  if (root === null) {
    return { failure: failed(`The working folder ${workingDir} is no longer there.`) };
  }
  const wanted = path.resolve(root, written);
  try {
    const absolute = await realpath(wanted);
    const inside = path.relative(root, absolute);
    if (inside === ".." || inside.startsWith(`..${path.sep}`) || path.isAbsolute(inside)) {
      return {
        failure: failed(
          `${codeSpan(written)} lies outside the working folder ${root}. ` +
            "Only files inside it can be read.",
          "outside",
        ),
      };
    }
    return { place: { absolute, shown: inside.split(path.sep).join("/") || "." } };
  } catch (error) {
    return { failure: failed(whyUnreadable(error, written), "not found") };
  }
}

export function whyUnreadable(error: unknown, written: string): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  const span = codeSpan(written);
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return `There is no ${span} in the working folder. Use list_files to see what is there.`;
    case "EACCES":
    case "EPERM":
      return `The daemon has no permission to read ${span}.`;
    case "ELOOP":
      return `${span} is a symbolic link that leads in a circle.`;
    case "ENAMETOOLONG":
      return `The path ${span} is too long.`;
    default:
      return `${span} could not be read (${code}).`;
  }
}
