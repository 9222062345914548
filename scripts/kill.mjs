// npm run kill -- [--kills N] [--seed N]: kills the built daemon again and again while devices work with
// it, and looks after each time whether it kept what it had promised. Exits with 1 if it did not.

import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureBuilt } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";
import { ROOT } from "./one-at-a-time.mjs";
import { runInWords, WordedError } from "./worded-error.mjs";

const KILLS = 50;

function readOptions() {
  const option = /** @type {const} */ ({ type: "string" });
  const options = { kills: option, seed: option };
  const parsed = () => {
    try {
      return parseArgs({ options, allowPositionals: false }).values;
    } catch (error) {
      throw new WordedError(`${error.message}\nUsage: [--kills N] [--seed N]`);
    }
  };
  const values = parsed();
  const number = (name, otherwise) => {
    const value = Number(values[name] ?? otherwise);
    if (Number.isSafeInteger(value) && value >= 0) return value;
    throw new WordedError(`--${name} takes a whole number, not "${values[name]}"`);
  };
  return {
    kills: number("kills", KILLS),
    seed: number("seed", Math.floor(Math.random() * 2 ** 32)),
  };
}

await runInWords(async () => {
  const { kills, seed } = readOptions();
  await ensureInstalled();
  await ensureBuilt();
  const { runnerImport } = await import("vite");
  const { module } = await runnerImport(join(ROOT, "e2e", "kill-loop", "run-kill-loop.ts"), {
    root: ROOT,
    configFile: false,
    logLevel: "error",
  });
  process.stdout.write(`seed ${seed}\n`);
  const told = (line) => process.stdout.write(`${line}\n`);
  try {
    const counts = await module.runKillLoop({ kills, seed, told });
    process.stdout.write(`${module.inWords(counts)}\n`);
  } catch (error) {
    if (!(error instanceof module.KillLoopFailure)) throw error;
    throw new WordedError(error.message);
  }
});
