import { describe, expect, it } from "vitest";
import { foldedWords } from "./folded-words.ts";

const read = (path: string, lines = "lines 1–9") => ({
  name: "read_file",
  description: `Read \`${path}\` ${lines}`,
});
const list = (path: string) => ({ name: "list_files", description: `Listed \`${path}\`` });
const search = { name: "grep", description: "Searched `TODO` in 6 files" };
const count = { name: "line_count", description: "Counted lines" };

describe("foldedWords", () => {
  it("counts the files that were looked at, a file in several pieces once", () => {
    expect(foldedWords([read("a"), read("b"), read("c")])).toBe("Explored 3 files");
    expect(foldedWords([read("a"), read("a", "lines 10–19"), read("b")])).toBe("Explored 2 files");
  });

  it("says what else was looked for", () => {
    expect(foldedWords([read("a"), list("src"), list("docs"), search])).toBe(
      "Explored 1 file and 2 folders, searched once",
    );
    expect(foldedWords([search, search, search])).toBe("Searched 3 times");
    expect(foldedWords([list("."), count, search, search])).toBe(
      "Explored 1 folder, searched twice, counted lines once",
    );
  });

  it("only counts where a tool may have done more than look", () => {
    expect(foldedWords([read("a"), { name: "run", description: "Ran `npm test`" }, search])).toBe(
      "Ran 3 tools",
    );
  });
});
