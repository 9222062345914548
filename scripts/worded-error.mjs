// What goes wrong for reasons outside of this project, told in words: people need no trace of it.

import "./node-version.mjs";

export class WordedError extends Error {
  /** @override */
  name = "WordedError";
}

/**
 * Runs a program's work. A `WordedError` ends the process with its message and 1; anything else is a
 * bug and keeps its trace.
 * @param {() => Promise<unknown>} work
 */
export async function runInWords(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof WordedError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
