import { describe, expect, it } from "vitest";
import { ERROR_CODES, Failure } from "../../shared/protocol/errors.ts";
import { missingTextWords, problemWords, refusedWords, wordsFor } from "./error-words.ts";

describe("wordsFor", () => {
  it.each(ERROR_CODES)("says what %s means and what to do, in whole sentences", (code) => {
    const { what, todo } = wordsFor({ code });
    expect(what).toMatch(/^[A-Z].*\.$/);
    expect(todo).toMatch(/^[A-Z].*\.$/);
    expect(what + todo).not.toMatch(/[!]|Oops/);
  });

  it("words an error that is no Failure as one inside the daemon", () => {
    expect(problemWords(new Error("x"))).toContain("inside the daemon");
    expect(problemWords(new Failure("folder_missing", "x"))).toContain("no folder at this path");
  });
});

describe("missingTextWords", () => {
  it("tells a text that is still to come from one that never will", () => {
    const later = new Failure("not_connected", "x", { retryable: true });
    expect(missingTextWords(later)).toContain("not on this device yet");
    expect(missingTextWords(new Failure("blob_gone", "x"))).toContain("no longer stored");
    expect(missingTextWords(new Failure("storage_failed", "x"))).toContain(
      "This browser's storage",
    );
    expect(missingTextWords(new Failure("internal", "x"))).toContain("inside the daemon");
  });
});

it("says of a command given some time ago what it was about", () => {
  expect(refusedWords("session.rename")).toBe("A session's new name was refused.");
  expect(refusedWords("session.stop")).toBe("A change was refused.");
});
