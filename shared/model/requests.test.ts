import { describe, expect, test } from "vitest";
import {
  canRedo,
  canUndo,
  continueTarget,
  type RequestFacts,
  redoTarget,
  runNext,
  sessionState,
  undoTarget,
} from "./requests.ts";
import { titleFromPrompt } from "./title.ts";

/** `d` done, `c` cancelled, `w` cancelled before it began, `f` failed, `i` interrupted, `r` running, `q` queued; upper case: undone. */
const requests = (letters: string): RequestFacts[] =>
  [...letters].map((letter, index) => ({
    seq: index + 1,
    undone: letter !== letter.toLowerCase(),
    startedAt: letter === "w" || letter === "q" ? null : 0,
    state:
      (
        {
          d: "done",
          c: "cancelled",
          w: "cancelled",
          f: "failed",
          i: "interrupted",
          r: "running",
          q: "queued",
        } as const
      )[letter.toLowerCase()] ?? "done",
  }));

describe("undo", () => {
  test.each([
    ["", null],
    ["d", 1],
    ["dd", 2],
    ["dD", 1],
    ["DD", null],
    ["dDd", 3],
    ["dw", 1],
    ["w", null],
  ])("of %j takes %j", (letters, seq) => {
    expect(undoTarget(requests(letters))?.seq ?? null).toBe(seq);
    expect(canUndo(requests(letters))).toBe(seq !== null);
  });

  test("is refused while anything runs or waits", () => {
    expect(canUndo(requests("dr"))).toBe(false);
    expect(canUndo(requests("dq"))).toBe(false);
  });
});

describe("redo", () => {
  test.each([
    ["d", null],
    ["dD", 2],
    ["DD", 1],
    ["dDD", 2],
    ["Dd", null],
    ["DdD", 3],
    ["dDw", 2],
  ])("of %j brings back %j", (letters, seq) => {
    expect(redoTarget(requests(letters))?.seq ?? null).toBe(seq);
    expect(canRedo(requests(letters))).toBe(seq !== null);
  });
});

describe("continue", () => {
  test.each([
    ["", null],
    ["d", null],
    ["c", 1],
    ["df", 2],
    ["di", 2],
    ["cd", null],
    ["cD", 1],
    ["cr", null],
    ["cq", null],
    ["cw", 1],
    ["dw", null],
  ])("of %j goes on from %j", (letters, seq) => {
    expect(continueTarget(requests(letters))?.seq ?? null).toBe(seq);
  });
});

describe("a session", () => {
  test.each([
    ["", "idle"],
    ["d", "idle"],
    ["c", "idle"],
    ["df", "failed"],
    ["i", "interrupted"],
    ["dF", "idle"],
    ["iw", "interrupted"],
    ["dr", "running"],
    ["dq", "running"],
  ])("with %j is %s", (letters, state) => {
    expect(sessionState(requests(letters))).toBe(state);
  });

  test("runs the queued request that was sent first, whatever the order of the rows", () => {
    expect(runNext(requests("dqq").reverse())?.seq).toBe(2);
    expect(runNext(requests("drq"))).toBeNull();
  });
});

describe("a title", () => {
  test.each([
    ["What is in this folder?", "What is in this folder?"],
    ["\n\n  Explain   this\nin detail", "Explain this"],
    [
      "Please find every place where the upload of a large file is retried",
      "Please find every place where the upload of a large file is…",
    ],
    ["x".repeat(80), `${"x".repeat(59)}…`],
  ])("of %j is %j", (prompt, title) => {
    expect(titleFromPrompt(prompt)).toBe(title);
    expect([...titleFromPrompt(prompt)].length).toBeLessThanOrEqual(60);
  });
});
