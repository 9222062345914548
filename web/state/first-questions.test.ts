import { describe, expect, it } from "vitest";
import { firstQuestions } from "./first-questions.ts";

describe("firstQuestions", () => {
  it("asks about a repository as a project, and about where its substance is", () => {
    expect(firstQuestions({ branch: "main", folders: [".git", "docs", "src"] })).toEqual([
      "Explain this project",
      "What is in src?",
      "Find TODO",
    ]);
  });

  it("asks about any other folder as a folder", () => {
    expect(firstQuestions({ branch: null, folders: ["letters"] })).toEqual([
      "What is in this folder?",
      "What is in letters?",
      "Find TODO",
    ]);
  });

  it("names no folder that is hidden or would not read as a name", () => {
    const questions = firstQuestions({ branch: null, folders: [".cache", "my files?"] });
    expect(questions[1]).toBe("Explain this project");
  });

  it("has three questions before anything is known", () => {
    expect(new Set(firstQuestions(null)).size).toBe(3);
  });
});
