import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockFolder } from "./lock-folder.ts";
import { StoreError } from "./store.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-lock-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the lock of a data folder", () => {
  it("belongs to one holder at a time", () => {
    const release = lockFolder(folder);
    expect(release).not.toBeNull();
    expect(lockFolder(folder)).toBeNull();
    release?.();
    const again = lockFolder(folder);
    expect(again).not.toBeNull();
    again?.();
  });

  it("is free again after its holder was killed", () => {
    const holder = `
      const Database = require("better-sqlite3");
      const lock = new Database(process.argv[1], { timeout: 0 });
      lock.exec("BEGIN EXCLUSIVE");
      process.kill(process.pid, "SIGKILL");
    `;
    const { signal } = spawnSync(process.execPath, ["-e", holder, join(folder, "daemon.lock")]);
    expect(signal).toBe("SIGKILL");
    const release = lockFolder(folder);
    expect(release).not.toBeNull();
    release?.();
  });

  it("says so when the folder cannot be written", () => {
    expect(() => lockFolder(join(folder, "missing"))).toThrow(StoreError);
  });
});
