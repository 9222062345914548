// Starts the built daemon for a measurement, on an empty data folder.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { DAEMON } from "../build.mjs";

/** @param {import("node:net").Server} server one that listens on TCP */
export function portOf(server) {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("listening on no port");
  return address.port;
}

export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = portOf(server);
  server.close();
  await once(server, "close");
  return port;
}

/** What a daemon needs to be started again as the same one. */
export async function makePlace() {
  return { home: mkdtempSync(join(tmpdir(), "troupe-bench-")), port: await freePort() };
}

/** @param {{ home: string }} place */
export const dataDirOf = ({ home }) => join(home, ".local", "share", "troupe");

/** @param {{ home: string }} place */
export function removePlace({ home }) {
  rmSync(home, { recursive: true, force: true });
}

/**
 * Resolves once `/healthz` answers, with how long that took since the process was started.
 * @param {{ home: string, port: number }} [given] stays when the daemon stops
 * @param {{ program?: string, nodeArgs?: string[] }} [how] another build than the one in dist/
 */
export async function startDaemon(given, { program = DAEMON, nodeArgs = [] } = {}) {
  const place = given ?? (await makePlace());
  const { home, port } = place;
  const begun = performance.now();
  const env = { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: home };
  const child = spawn(
    process.execPath,
    [...nodeArgs, program, "--no-open", "--port", String(port)],
    {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const link = new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the daemon ended with ${code}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = /^Open (\S+)$/.exec(line)?.[1];
      if (url) resolve(url);
    });
  });
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}`);
    if (performance.now() - begun > 20_000) throw new Error("the daemon does not listen");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const startMs = performance.now() - begun;
  return {
    startMs,
    home,
    port,
    origin: `http://127.0.0.1:${port}`,
    launchLink: await link,
    /** What `troupe link` prints. */
    async freshLink() {
      const { stdout } = await promisify(execFile)(process.execPath, [DAEMON, "link"], { env });
      const link = /http:\S+/.exec(stdout)?.[0];
      if (link === undefined) throw new Error(`no link in ${stdout}`);
      return link;
    },
    /** Resident memory in MB of the process alone. */
    residentMb: () => residentMb(child.pid),
    async stop() {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      if (given === undefined) removePlace(place);
    },
  };
}

function isListening(port) {
  return new Promise((resolve) => {
    const request = get({ host: "127.0.0.1", port, path: "/healthz", agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on("error", () => resolve(false));
  });
}

/** @param {number | undefined} pid */
function residentMb(pid) {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kilobytes) * 1024) / 1e6;
}
