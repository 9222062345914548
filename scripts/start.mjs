// npm start: everything from a fresh clone to a running daemon, in this process. What stands after
// `--` goes to the daemon.

import "./node-version.mjs";
import { pathToFileURL } from "node:url";
import { DAEMON, ensureBuilt } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";

try {
  await ensureInstalled();
  await ensureBuilt();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
await import(pathToFileURL(DAEMON).href);
