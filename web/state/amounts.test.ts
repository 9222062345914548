import { expect, it } from "vitest";
import { amount } from "./amounts.ts";

it.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1_000, "1.0 KB"],
  [640_400, "640 KB"],
  [999_600, "1.0 MB"],
  [9_960_000, "10 MB"],
  [1_234_567_890, "1.2 GB"],
  [5e15, "5000 TB"],
  [-1, "0 bytes"],
])("says %d bytes as %s", (bytes, words) => {
  expect(amount(bytes)).toBe(words);
});
