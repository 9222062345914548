import { expect, test } from "vitest";
import { addUsage, countedUsage, NO_USAGE } from "./usage.ts";

test("what a provider counted becomes whole numbers from 0 up, whatever it sent", () => {
  const odd = { inputTokens: 10.4, outputTokens: Number.NaN, cachedTokens: -3 };
  expect(countedUsage(odd)).toEqual({ inputTokens: 10, outputTokens: 0, cachedTokens: 0 });
  expect(countedUsage({ outputTokens: 7 })).toEqual({ ...NO_USAGE, outputTokens: 7 });
});

test("usage adds up, and no usage adds nothing", () => {
  const usage = { inputTokens: 3, outputTokens: 2, cachedTokens: 1 };
  expect(addUsage(usage, usage)).toEqual({ inputTokens: 6, outputTokens: 4, cachedTokens: 2 });
  expect(addUsage(usage, null)).toEqual(usage);
});
