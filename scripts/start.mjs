// npm start: everything from a fresh clone to a running daemon, in this process. What stands after
// `--` goes to the daemon.

import { pathToFileURL } from "node:url";
import { DAEMON, ensureBuilt } from "./build.mjs";
import { ensureInstalled } from "./install.mjs";
import { runInWords } from "./worded-error.mjs";

await runInWords(async () => {
  await ensureInstalled();
  await ensureBuilt();
});
await import(pathToFileURL(DAEMON).href);
