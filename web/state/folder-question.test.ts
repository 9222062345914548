import { describe, expect, it } from "vitest";
import { Failure } from "../../shared/protocol/errors.ts";
import type { Folder } from "../../shared/protocol/methods.ts";
import { askFolder, folderFacts } from "./folder-question.ts";

const folder = (path: string, more: Partial<Folder> = {}): Folder => ({
  path,
  shown: path,
  branch: null,
  fileCount: 2,
  folders: [],
  foldersLeftOut: 0,
  ...more,
});

const ask = async (path: string | undefined): Promise<Folder> => {
  if (path === undefined) return folder("/home/ada", { shown: "~" });
  if (path === "~/" || path === "~") {
    return folder("/home/ada", { folders: [".config", "code", "Cooking", "notes"] });
  }
  throw new Failure("folder_missing", `There is no folder at ${path}`);
};

describe("askFolder", () => {
  it("describes the home folder when nothing is typed", async () => {
    expect(await askFolder(ask, " ")).toMatchObject({ folder: { shown: "~" }, problem: null });
  });

  it("offers what is inside after a slash, and nothing over a finished path", async () => {
    const inside = await askFolder(ask, "~/");
    expect(inside.completions).toEqual(["~/code", "~/Cooking", "~/notes"]);
    expect((await askFolder(ask, "~")).completions).toEqual([]);
  });

  it("words what is wrong and completes the name that was begun", async () => {
    const answer = await askFolder(ask, "~/co");
    expect(answer.folder).toBeNull();
    expect(answer.problem).toContain("There is no folder at this path.");
    expect(answer.completions).toEqual(["~/code", "~/Cooking"]);
    expect((await askFolder(ask, "~/.c")).completions).toEqual(["~/.config"]);
  });

  it("finds no fault with a path that nobody could be asked about", async () => {
    const offline = async () => {
      throw new Failure("not_connected", "no connection", { retryable: true });
    };
    expect(await askFolder(offline, "~/code")).toMatchObject({ problem: null, isUnknown: true });
  });
});

it("states what a folder is", () => {
  expect(folderFacts(folder("/x", { branch: "main", fileCount: 1204 }))).toBe(
    "git · main · 1,204 files",
  );
  expect(folderFacts(folder("/x", { fileCount: null }))).toBe("");
});
