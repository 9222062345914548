// npm run bench -- NAME… [--json]: measures what design goals put a number on. One line per number.

import { ensureBuilt } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";
import { runInWords } from "./worded-error.mjs";

/** @type {Record<string, () => Promise<{ run(): Promise<{ metric: string, value: number, unit: string, target: number | null }[]> }>>} */
const BENCHES = {
  start: () => import("./bench/start.mjs"),
  page: () => import("./bench/page.mjs"),
  catchup: () => import("./bench/catchup.mjs"),
  reconnect: () => import("./bench/reconnect.mjs"),
  fanout: () => import("./bench/fanout.mjs"),
  feed: () => import("./bench/feed.mjs"),
  connections: () => import("./bench/connections.mjs"),
};

const args = process.argv.slice(2);
const isJson = args.includes("--json");
const named = args.filter((arg) => !arg.startsWith("--"));
const unknown = args.find((arg) => arg !== "--json" && !Object.hasOwn(BENCHES, arg));
if (unknown !== undefined) {
  const known = [...Object.keys(BENCHES), "--json"].join(", ");
  process.stderr.write(`No bench or flag "${unknown}"; there are: ${known}\n`);
  process.exit(2);
}

/** Resolves to false if a number missed its target. */
async function measure(bench, load) {
  let isPassed = true;
  const { run } = await load();
  for (const { metric, value, unit, target } of await run()) {
    const pass = target === null || value <= target;
    isPassed &&= pass;
    const result = { bench, metric, value, unit, target, pass };
    const goal = target === null ? "" : ` (target ${target})`;
    const words = `${pass ? "ok    " : "MISSED"}  ${bench}: ${metric} ${value} ${unit}${goal}`;
    process.stdout.write(`${isJson ? JSON.stringify(result) : words}\n`);
  }
  return isPassed;
}

await runInWords(async () => {
  await ensureInstalled();
  await ensureBuilt();
  for (const [bench, load] of Object.entries(BENCHES)) {
    const isWanted = named.length === 0 || named.includes(bench);
    if (isWanted && !(await measure(bench, load))) process.exitCode = 1;
  }
});
