import { expect, it } from "vitest";
import { splitCode } from "./split-code.ts";

it.each([
  ["Read `src/a.ts` lines 1–9", ["Read ", "src/a.ts", " lines 1–9"]],
  ["no code", ["no code"]],
  ["`all`", ["", "all", ""]],
  ["one ` alone", ["one ` alone"]],
  ["`a` and ` alone", ["", "a", " and ` alone"]],
  ["<b>`<i>`</b>", ["<b>", "<i>", "</b>"]],
])("splits %s", (sentence, pieces) => {
  expect(splitCode(sentence)).toEqual(pieces);
});
