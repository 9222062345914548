// npm run bench -- NAME… [--json]: measures what design goals put a number on. One line per number.

import "./node-version.mjs";
import { ensureBuilt } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";

/** @type {Record<string, () => Promise<{ run(): AsyncIterable<object> | Promise<object[]> }>>} */
const BENCHES = {
  start: () => import("./bench/start.mjs"),
  page: () => import("./bench/page.mjs"),
};

const args = process.argv.slice(2);
const isJson = args.includes("--json");
const named = args.filter((arg) => !arg.startsWith("--"));
const unknown = named.find((name) => !Object.hasOwn(BENCHES, name));
if (unknown !== undefined) {
  process.stderr.write(`No bench "${unknown}"; there are: ${Object.keys(BENCHES).join(", ")}\n`);
  process.exit(2);
}

await ensureInstalled();
await ensureBuilt();
let isPassed = true;
for (const bench of named.length > 0 ? named : Object.keys(BENCHES)) {
  const { run } = await BENCHES[bench]();
  for (const { metric, value, unit, target } of await run()) {
    const pass = value <= target;
    isPassed &&= pass;
    const result = { bench, metric, value, unit, target, pass };
    const words = `${pass ? "ok    " : "MISSED"}  ${bench}: ${metric} ${value} ${unit} (target ${target})`;
    process.stdout.write(`${isJson ? JSON.stringify(result) : words}\n`);
  }
}
process.exitCode = isPassed ? 0 : 1;
