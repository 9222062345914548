// The program as it is started and stopped from a shell.

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "./fixtures.ts";

const MAIN = fileURLToPath(new URL("../dist/server/main.js", import.meta.url));
let home = "";

test.beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "troupe-cli-"));
});
test.afterEach(() => {
  chmodSync(home, 0o700);
  rmSync(home, { recursive: true, force: true });
});

function troupe(args: readonly string[], dataDir = join(home, "data")) {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_RUNTIME_DIR: home,
    TROUPE_DATA_DIR: dataDir,
  };
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], {
    env,
    encoding: "utf8",
    timeout: 20_000,
  });
  return { status, stdout, stderr };
}

const PLAIN = /^(?!.*\n\s+at ).+$/s;

test("says what it can do and which version it is", () => {
  const help = troupe(["--help"]);
  expect(help.status).toBe(0);
  expect(help.stdout).toContain("--data-dir");
  const version = troupe(["--version"]);
  expect(version.stdout.trim()).toMatch(/^troupe \d+\.\d+\.\d+$/);
});

test("exits with 2 on a flag it does not know", () => {
  const { status, stderr } = troupe(["--prot", "1"]);
  expect(status).toBe(2);
  expect(stderr).toContain("--prot");
  expect(stderr).toMatch(PLAIN);
});

test("says so when the port belongs to another program", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" ? address?.port : 0;
  const { status, stderr } = troupe(["--no-open", "--port", String(port)]);
  other.close();
  expect(status).toBe(1);
  expect(stderr).toContain(String(port));
  expect(stderr).toContain("--port");
  expect(stderr).toMatch(PLAIN);
});

test("says so when the data folder cannot be written", () => {
  writeFileSync(join(home, "file"), "");
  const { status, stderr } = troupe(["--no-open"], join(home, "file", "data"));
  expect(status).toBe(1);
  expect(stderr).toContain(join(home, "file", "data"));
  expect(stderr).toMatch(PLAIN);
});

test("says so when the identity key is damaged, and leaves it alone", async ({ daemon }) => {
  await daemon.stop();
  writeFileSync(join(daemon.dataDir, "identity.key"), "damaged");
  const { status, stderr } = troupe(["--no-open", "--port", "0"], daemon.dataDir);
  expect(status).toBe(1);
  expect(stderr).toContain("identity.key");
  expect(stderr).toMatch(PLAIN);
  expect(readFileSync(join(daemon.dataDir, "identity.key"), "utf8")).toBe("damaged");
});

test("says so when SQLite was built for another Node", () => {
  const stub = join(home, "other-node.cjs");
  writeFileSync(
    stub,
    `process.dlopen = () => {
      throw Object.assign(new Error("built for NODE_MODULE_VERSION 1"), { code: "ERR_DLOPEN_FAILED" });
    };`,
  );
  const env = { PATH: process.env.PATH, HOME: home, TROUPE_DATA_DIR: join(home, "data") };
  const args = ["--require", stub, MAIN, "--no-open", "--port", "0"];
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain("npm start");
  expect(stderr).not.toContain("--data-dir");
  expect(stderr).toMatch(PLAIN);
});

test("link without a daemon says how to start one", () => {
  const { status, stderr } = troupe(["link"]);
  expect(status).toBe(1);
  expect(stderr).toContain("No daemon");
  expect(stderr).toMatch(PLAIN);
});

test("started again, it hands out a link of the daemon that runs", async ({ daemon }) => {
  const env = { PATH: process.env.PATH, XDG_RUNTIME_DIR: join(daemon.dataDir, "..") };
  const { status, stdout } = spawnSync(process.execPath, [MAIN, "--no-open", "--port", "1"], {
    env: { ...env, TROUPE_DATA_DIR: daemon.dataDir },
    encoding: "utf8",
    timeout: 20_000,
  });
  expect(status).toBe(0);
  expect(stdout).toContain(`Open ${daemon.origin}/#enrol=`);
});

test("SIGTERM ends it with 0 within five seconds, and it starts again on the same data", async ({
  daemon,
}) => {
  const begun = Date.now();
  expect(await daemon.stop()).toBe(0);
  expect(Date.now() - begun).toBeLessThan(5_000);
  await daemon.restart();
  expect(await daemon.launchLink()).toContain(daemon.origin);
});
