// A real daemon for a test: its own port, its own folders, killed and started again at will.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../dist/server/main.js", import.meta.url));
const START_MAX_MS = 20_000;

export interface Daemon {
  readonly origin: string;
  readonly port: number;
  readonly dataDir: string;
  /** A launch link that nobody has used yet. */
  launchLink(): Promise<string>;
  /** SIGKILL: no goodbye, no flushing. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** The same data folder and port again, after `kill` or `stop`. */
  restart(): Promise<void>;
  /** Starts it again, and kills it so long after. Only after `kill` or `stop`. */
  restartAndKill(afterMs: number): Promise<void>;
  /** What the daemon has logged so far. */
  log(): string;
  /** Kills it and removes its folders. */
  dispose(): Promise<void>;
}

interface Running {
  readonly child: ChildProcess;
  readonly link: string;
}

/** `program`: another build than the one in `dist/`. */
export async function startDaemon(program: string = MAIN): Promise<Daemon> {
  const home = mkdtempSync(join(tmpdir(), "troupe-e2e-"));
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_RUNTIME_DIR: home,
    TROUPE_DATA_DIR: join(home, "data"),
    TROUPE_CONFIG_DIR: join(home, "config"),
    TROUPE_PORT: String(port),
    TROUPE_LOG_LEVEL: "info",
    TROUPE_NO_OPEN: "1",
  };
  let log = "";
  const hear = (text: string): void => {
    log += text;
  };
  const run = (): Promise<Running> => spawnDaemon(program, env, hear);
  let running = await run();
  let unusedLink: string | null = running.link;

  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const { child } = running;
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
    }
    return child.exitCode;
  };
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    dataDir: env.TROUPE_DATA_DIR,
    async launchLink() {
      const link = unusedLink ?? (await printedLink(env));
      unusedLink = null;
      return link;
    },
    async kill() {
      await end("SIGKILL");
    },
    stop: () => end("SIGTERM"),
    async restart() {
      running = await run();
      unusedLink = running.link;
    },
    async restartAndKill(afterMs) {
      const child = spawn(process.execPath, [program], { env, stdio: "ignore" });
      const exited = once(child, "exit");
      setTimeout(() => child.kill("SIGKILL"), afterMs);
      await exited;
    },
    log: () => log,
    async dispose() {
      await end("SIGKILL");
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Starts it and waits for its launch link, which it prints once it listens. */
async function spawnDaemon(
  program: string,
  env: NodeJS.ProcessEnv,
  hear: (text: string) => void,
): Promise<Running> {
  const child = spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "pipe"] });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
    hear(text);
  });
  const link = await new Promise<string>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`The daemon ${why}:\n${errors}`));
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail("printed no launch link in time");
    }, START_MAX_MS);
    child.once("exit", (code) => fail(`ended with ${code} before it listened`));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /^Open (\S+)$/.exec(line)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve(url);
    });
  });
  return { child, link };
}

/** What `troupe link` prints. */
async function printedLink(env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(process.execPath, [MAIN, "link"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code] = await once(child, "close");
  const link = /http:\/\/\S+/.exec(output)?.[0];
  if (code !== 0 || link === undefined)
    throw new Error(`troupe link ended with ${code}: ${output}`);
  return link;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port to be had");
  return address.port;
}
