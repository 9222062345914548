// A folder of files and a way to run a tool in it, for tests.

import { mkdir, realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkArguments } from "../tools/arguments.ts";
import type { Tool, ToolOutput } from "../tools/tool.ts";
import { makeTemporaryFolder } from "./temporary-store.ts";

export async function makeFolderOf(files: Record<string, string | Uint8Array>): Promise<string> {
  const folder = await realpath(await makeTemporaryFolder());
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

/** Runs a tool as the loop does: arguments checked first. */
export async function runTool(
  tool: Tool,
  workingDir: string,
  args: Record<string, unknown> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<ToolOutput> {
  const checked = checkArguments(tool, JSON.stringify(args));
  if (!checked.ok) return { text: checked.message, isError: true, note: "bad arguments" };
  return tool.run(checked.args, { workingDir, signal, emit: () => {} });
}
