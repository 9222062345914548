import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Failure } from "../../shared/protocol/errors.ts";
import { makeFolderOf } from "../testing/tool-bench.ts";
import { readBranch, resolveFolder } from "./folder.ts";

describe("a folder as written", () => {
  test("[R4] starts at home, links resolved", async () => {
    const home = await makeFolderOf({ "project/x": "" });
    await symlink(join(home, "project"), join(home, "link"));
    for (const written of ["~/project", "project", "link", "~/./link/", join(home, "link")]) {
      expect(await resolveFolder(written, home)).toBe(join(home, "project"));
    }
    expect(await resolveFolder("~", home)).toBe(home);
  });

  test("that is no folder is refused with its path in words", async () => {
    const home = await makeFolderOf({ file: "" });
    await symlink("circle", join(home, "circle"));
    for (const written of ["gone", "file", "file/below", "circle", "x".repeat(4_000), "a\0b"]) {
      const refusal = await resolveFolder(written, home).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(Failure);
      if (refusal instanceof Failure) expect(refusal.wire.code).toBe("folder_missing");
    }
  });

  test("that may not be read is said to be closed", async () => {
    const home = await makeFolderOf({});
    await mkdir(join(home, "shut"));
    await chmod(join(home, "shut"), 0o000);
    const outcome = await resolveFolder("shut", home).catch((error: unknown) => error);
    // The superuser reads everything.
    if (process.getuid?.() === 0) expect(outcome).toBe(join(home, "shut"));
    else expect(outcome instanceof Failure && outcome.wire.code).toBe("folder_unreadable");
  });
});

describe("the branch of a folder", () => {
  test("is found from below the repository's root, and null outside of one", async () => {
    const folder = await makeFolderOf({ ".git/HEAD": "ref: refs/heads/feat/a\n", "src/x": "" });
    expect(await readBranch(join(folder, "src"))).toBe("feat/a");
    expect(await readBranch(await makeFolderOf({ "not/x": "" }))).toBeNull();
  });

  test("is not read from what is no small file, and is harmless to show", async () => {
    const piped = await makeFolderOf({ ".git/config": "" });
    execFileSync("mkfifo", [join(piped, ".git", "HEAD")]);
    expect(await readBranch(piped)).toBeNull();
    const huge = await makeFolderOf({ ".git/HEAD": `ref: refs/heads/${"x".repeat(100_000)}\n` });
    expect(await readBranch(huge)).toBeNull();
    const odd = await makeFolderOf({ ".git/HEAD": "" });
    await writeFile(join(odd, ".git", "HEAD"), "ref: refs/heads/a\u202eb\n");
    expect(await readBranch(odd)).toBe("a\\u{202e}b");
  });
});
