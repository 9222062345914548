import { expect, it } from "vitest";
import { turnOfHash } from "./turn-link.ts";

it.each([
  ["#t12", 12],
  ["#t", null],
  ["#t1x", null],
  ["#t9999999999", null],
  ["", null],
])("finds the turn in %s", (hash, turn) => {
  expect(turnOfHash(hash)).toBe(turn);
});
