// npm run dev: the page from Vite's development server with hot reloading, and behind it a daemon
// that is built and started again whenever server/ or shared/ changes. It has a data folder of its own.

import "./node-version.mjs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DAEMON } from "./build.mjs";
import { ensureInstalled, ROOT } from "./install.mjs";

const PAGE_PORT = 5173;
const DAEMON_PORT = 4790;
const DAEMON_ORIGIN = `http://127.0.0.1:${DAEMON_PORT}`;
const PAGE_ORIGIN = `http://127.0.0.1:${PAGE_PORT}`;
const SETTLE_MS = 150;

await ensureInstalled();
const { createBuilder, createServer } = await import("vite");

async function buildDaemon() {
  const builder = await createBuilder({
    root: ROOT,
    logLevel: "warn",
    configFile: join(ROOT, "vite.config.ts"),
  });
  await builder.build(builder.environments.server);
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
  const args = [DAEMON, "--no-open", "--port", String(DAEMON_PORT), "--host", "127.0.0.1"];
  const dataDir = process.env.TROUPE_DATA_DIR ?? join(homedir(), ".local", "share", "troupe-dev");
  daemon = spawn(process.execPath, [...args, "--data-dir", dataDir, ...process.argv.slice(2)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  createInterface({ input: daemon.stdout }).on("line", (line) => {
    process.stdout.write(`${line.replace(DAEMON_ORIGIN, PAGE_ORIGIN)}\n`);
  });
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

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await Promise.all([stopDaemon(), vite.close()]);
    process.exit(0);
  });
}
await vite.listen();
await refreshDaemon();
