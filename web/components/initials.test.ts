import { expect, it } from "vitest";
import { initials } from "./initials.ts";

it.each([
  ["phone", "PH"],
  ["Chromium on Linux", "CL"],
  ["Ada's tablet", "AT"],
  ["x", "X"],
  ["𝔘nicode 𝔏etters", "𝔘𝔏"],
  ["…", "?"],
  ["", "?"],
])("makes of “%s” the mark %s", (name, mark) => {
  expect(initials(name)).toBe(mark);
});
