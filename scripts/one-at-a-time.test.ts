import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { oneAtATime } from "./one-at-a-time.mjs";
import { WordedError } from "./worded-error.mjs";

let folder = "";
let lock = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-lock-"));
  lock = join(folder, "dist", ".lock");
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

describe("installing and building", () => {
  it("waits for another who is at it, and says for whom", async () => {
    const done: string[] = [];
    let finish = () => {};
    const first = oneAtATime(async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      done.push("first");
    }, lock);
    const second = oneAtATime(async () => done.push("second"), lock);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(done).toEqual([]);
    expect(process.stderr.write).toHaveBeenCalledOnce();
    expect(process.stderr.write).toHaveBeenCalledWith(expect.stringContaining(`${process.pid}`));
    finish();
    await first;
    await vi.advanceTimersByTimeAsync(1_000);
    await second;
    expect(done).toEqual(["first", "second"]);
    expect(existsSync(lock)).toBe(false);
  });

  it("does not wait for a process that is gone", async () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    mkdirSync(join(folder, "dist"));
    writeFileSync(lock, String(pid));
    expect(await oneAtATime(async () => "done", lock)).toBe("done");
  });

  it("leaves nothing locked when it fails", async () => {
    const failing = oneAtATime(() => Promise.reject(new Error("no")), lock);
    await expect(failing).rejects.toThrow("no");
    expect(existsSync(lock)).toBe(false);
  });

  it("says so in words when nothing can be written", async () => {
    writeFileSync(join(folder, "dist"), "a file");
    await expect(oneAtATime(async () => {}, lock)).rejects.toThrow(WordedError);
  });
});
