import { expect, it } from "vitest";
import { drawable } from "./drawable.ts";

it("keeps tabs and line breaks", () => {
  expect(drawable("a\tb\r\nc")).toBe("a\tb\r\nc");
});

it("shows characters that could reorder or hide text as replacement characters", () => {
  expect(drawable("a\u001b[31mb\u202ec\u0000")).toBe("a\ufffd[31mb\ufffdc\ufffd");
});
