// npm run simulate -- [--seeds N] [--from N] [--steps N]: runs the simulation of sync with many seeds,
// on all processors, and prints what happened in them. Exits with 1 if a seed fails.

import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { ensureInstalled } from "./install.mjs";
import { ROOT } from "./one-at-a-time.mjs";
import { runInWords, WordedError } from "./worded-error.mjs";

const SEEDS = 100;
const STEPS = 300;
/** A failure tells every step that led to it; so many are enough to begin with. */
const FAILURES_TOLD = 5;

function readOptions() {
  const option = /** @type {const} */ ({ type: "string" });
  const options = { seeds: option, from: option, steps: option };
  try {
    const { values } = parseArgs({ options, allowPositionals: false });
    const number = (name, otherwise) => {
      const value = Number(values[name] ?? otherwise);
      if (Number.isSafeInteger(value) && value >= 0) return value;
      throw new WordedError(`--${name} takes a whole number, not "${values[name]}"`);
    };
    return {
      seeds: number("seeds", SEEDS),
      from: number("from", 1),
      steps: number("steps", STEPS),
    };
  } catch (error) {
    if (error instanceof WordedError) throw error;
    throw new WordedError(`${error.message}\nUsage: [--seeds N] [--from N] [--steps N]`);
  }
}

async function runAll() {
  const { seeds, from, steps } = readOptions();
  await ensureInstalled();
  const begun = performance.now();
  const totals = { seeds: 0 };
  let failures = 0;
  const heard = ({ counts, failure }) => {
    totals.seeds += 1;
    for (const [name, count] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + count;
    if (failure === null) return;
    failures += 1;
    if (failures <= FAILURES_TOLD) process.stderr.write(`${failure}\n\n`);
  };
  const count = Math.min(availableParallelism(), seeds);
  const parts = Array.from({ length: count }, (_, index) =>
    runPart({ first: from + index, stride: count, end: from + seeds, steps }, heard),
  );
  await Promise.all(parts);
  const seconds = ((performance.now() - begun) / 1000).toFixed(0);
  for (const [name, total] of Object.entries(totals)) process.stdout.write(`${name} ${total}\n`);
  process.stdout.write(`${totals.seeds - failures} passed, ${failures} failed, in ${seconds} s\n`);
  if (failures > 0) process.exitCode = 1;
}

/**
 * Resolves when the thread has run its seeds.
 * @returns {Promise<void>}
 */
function runPart(part, heard) {
  const thread = new Worker(new URL(import.meta.url), { workerData: part });
  return new Promise((resolve, reject) => {
    thread.on("message", heard);
    thread.on("error", reject);
    thread.on("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`A part of the simulation ended with ${code}`)),
    );
  });
}

async function runSeeds({ first, stride, end, steps }) {
  const { runnerImport } = await import("vite");
  const { module } = await runnerImport(join(ROOT, "e2e", "simulation", "run-simulation.ts"), {
    root: ROOT,
    configFile: false,
    logLevel: "error",
  });
  for (let seed = first; seed < end; seed += stride) {
    try {
      const { counts } = await module.runSimulation(seed, steps);
      parentPort?.postMessage({ counts, failure: null });
    } catch (error) {
      if (!(error instanceof module.SimulationFailure)) throw error;
      parentPort?.postMessage({ counts: {}, failure: error.message });
    }
  }
}

if (isMainThread) await runInWords(runAll);
else await runSeeds(workerData);
