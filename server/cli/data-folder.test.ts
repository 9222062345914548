import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { prepareFolder } from "./data-folder.ts";
import { readIdentityKey } from "./identity-key.ts";
import { StartError } from "./start-error.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-data-folder-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function failure(work: () => unknown): StartError {
  try {
    work();
  } catch (error) {
    if (error instanceof StartError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("the data folder", () => {
  it("is made for its owner only", () => {
    const path = join(folder, "a", "b");
    prepareFolder(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it("says which folder cannot be written and why", () => {
    writeFileSync(join(folder, "file"), "");
    const path = join(folder, "file", "data");
    const error = failure(() => prepareFolder(path));
    expect(error.code).toBe("folder_not_writable");
    expect(error.message).toContain(path);
    expect(error.message).toContain("a part of the path is a file");
  });

  it("says at once that nothing can be made in a place like /proc", () => {
    const path = "/proc/troupe/data";
    const error = failure(() => prepareFolder(path));
    expect(error.code).toBe("folder_not_writable");
    expect(error.message).toContain(path);
  });
});

describe("the identity key", () => {
  it("is made once, for its owner only, and stays", () => {
    const key = readIdentityKey(folder);
    expect(key).toHaveLength(32);
    expect(statSync(join(folder, "identity.key")).mode & 0o777).toBe(0o600);
    expect(readIdentityKey(folder)).toEqual(key);
  });

  it.each(["", "short", "!".repeat(43), "A".repeat(44)])(
    "is not replaced when it holds %j",
    (text) => {
      const path = join(folder, "identity.key");
      writeFileSync(path, text);
      const error = failure(() => readIdentityKey(folder));
      expect(error.code).toBe("identity_unreadable");
      expect(error.message).toContain(path);
      expect(readFileSync(path, "utf8")).toBe(text);
    },
  );

  it("says so when it cannot be read", () => {
    const path = join(folder, "identity.key");
    readIdentityKey(folder);
    rmSync(path);
    prepareFolder(path);
    chmodSync(path, 0o700);
    expect(failure(() => readIdentityKey(folder)).code).toBe("identity_unreadable");
  });
});
