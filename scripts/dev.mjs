// npm run dev: the page from Vite's development server with hot reloading, and behind it a daemon
// that is built and started again whenever server/ or shared/ changes. It has a data folder of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ensureInstalled } from "./install.mjs";
import { ROOT } from "./one-at-a-time.mjs";
import { runInWords, WordedError } from "./worded-error.mjs";

const PAGE_PORT = 5173;
const DAEMON_PORT = 4790;
const DAEMON_ORIGIN = `http://127.0.0.1:${DAEMON_PORT}`;
const PAGE_ORIGIN = `http://127.0.0.1:${PAGE_PORT}`;
/** Apart from what `npm start` runs, which would not notice that this replaced it. */
const OUT_DIR = join(ROOT, "dist", "dev", "server");
const SETTLE_MS = 150;

await runInWords(ensureInstalled);
const { createBuilder, createServer } = await import("vite");

async function buildDaemon() {
  const builder = await createBuilder({
    root: ROOT,
    logLevel: "warn",
    configFile: join(ROOT, "vite.config.ts"),
    environments: { server: { build: { outDir: OUT_DIR } } },
  });
  const { server } = builder.environments;
  if (!server) throw new Error("vite.config.ts: an environment is missing");
  await builder.build(server);
}

/** @type {import("node:child_process").ChildProcess | null} */
let daemon = null;

async function stopDaemon() {
  const child = daemon;
  daemon = null;
  if (child === null || child.exitCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}

function startDaemon() {
  const main = join(OUT_DIR, "main.js");
  const args = ["--no-open", "--port", String(DAEMON_PORT), "--host", "127.0.0.1"];
  args.push("--data-dir", process.env.TROUPE_DATA_DIR || defaultDataDir());
  const child = spawn(process.execPath, [main, ...args, ...process.argv.slice(2)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  daemon = child;
  createInterface({ input: child.stdout }).on("line", (line) => {
    // What else the daemon says about the link speaks of another command.
    const link = /^Open .*/.exec(line)?.[0];
    if (link) process.stdout.write(`${link.replace(DAEMON_ORIGIN, PAGE_ORIGIN)} (good once)\n`);
  });
}

function defaultDataDir() {
  const { XDG_DATA_HOME } = process.env;
  const home = XDG_DATA_HOME?.startsWith("/") ? XDG_DATA_HOME : join(homedir(), ".local", "share");
  return join(home, "troupe-dev");
}

/** The daemon's gate knows its own origin only, so the page's requests are passed on under it. */
const behind = {
  target: DAEMON_ORIGIN,
  changeOrigin: true,
  headers: { origin: DAEMON_ORIGIN },
};

const vite = await createServer({
  configFile: join(ROOT, "vite.config.ts"),
  server: {
    host: "127.0.0.1",
    port: PAGE_PORT,
    strictPort: true,
    proxy: {
      "/ws": { ...behind, ws: true },
      "/identity": behind,
      "/healthz": behind,
      "/readyz": behind,
      "/metrics": behind,
    },
  },
});

let isBusy = false;
let isStale = false;
async function refreshDaemon() {
  isStale = true;
  if (isBusy) return;
  isBusy = true;
  while (isStale) {
    isStale = false;
    try {
      await buildDaemon();
      await stopDaemon();
      startDaemon();
    } catch (error) {
      // The old daemon stays until there is a better one.
      process.stderr.write(`${error.message}\n`);
    }
  }
  isBusy = false;
}

let timer = setTimeout(() => {}, 0);
const watched = ["server", "shared"].map((folder) => join(ROOT, folder));
vite.watcher.add(watched);
vite.watcher.on("all", (_, path) => {
  if (!watched.some((folder) => path.startsWith(folder)) || path.includes(".test.")) return;
  clearTimeout(timer);
  timer = setTimeout(refreshDaemon, SETTLE_MS);
});

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.once(signal, async () => {
    await Promise.all([stopDaemon(), vite.close()]);
    process.exit(0);
  });
}
await runInWords(async () => {
  try {
    await vite.listen();
  } catch (error) {
    throw new WordedError(
      `The page cannot be served on port ${PAGE_PORT} (${error.message}). ` +
        "Stop what listens there, which may be another `npm run dev`.",
    );
  }
  await refreshDaemon();
});
