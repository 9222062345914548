// Runs a source file of the project itself: what a measurement needs of it is not built as a program.

import { join } from "node:path";
import { ROOT } from "../one-at-a-time.mjs";

/** @param {string} path from the project's root */
export async function loadSource(path) {
  const { runnerImport } = await import("vite");
  const options = { root: ROOT, configFile: /** @type {const} */ (false) };
  const { module } = await runnerImport(join(ROOT, path), { ...options, logLevel: "error" });
  return module;
}
