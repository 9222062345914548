import fc from "fast-check";
import { expect, test } from "vitest";
import { PartText } from "./part-text.ts";

const whole = "a😀b👩‍👩‍👧é\ud83d x\udc00y";

function filled(text: string, cuts: readonly number[]): PartText {
  const part = new PartText();
  const sorted = [...cuts].sort((a, b) => a - b);
  for (const [index, cut] of [0, ...sorted].entries()) part.append(text.slice(cut, sorted[index]));
  return part;
}

test("holds the same text however it came in pieces", () => {
  const cuts = fc.array(fc.nat(whole.length), { maxLength: 20 });
  fc.assert(
    fc.property(cuts, fc.nat(whole.length), fc.nat(whole.length), (where, a, b) => {
      const part = filled(whole, where);
      const [from, to] = [Math.min(a, b), Math.max(a, b)];
      expect(part.slice(from, to)).toBe(whole.slice(from, to));
      expect(part.whole()).toBe(whole);
      expect(part.slice(from, to)).toBe(whole.slice(from, to));
    }),
  );
});

test("[S1] shows no half of a surrogate pair until the other half is there", () => {
  const part = new PartText();
  part.append("a\ud83d");
  expect(part.length).toBe(1);
  expect(part.whole()).toBe("a\ud83d");
  part.append("");
  part.append("\ude00");
  expect(part.length).toBe(3);
  expect(part.slice(1, 3)).toBe("😀");
});

test("[S1] knows the offsets that a chunk may begin at", () => {
  const part = filled("a😀b", [2]);
  expect([0, 1, 2, 3, 4].map((offset) => part.isBoundary(offset))).toEqual([
    true,
    true,
    false,
    true,
    true,
  ]);
  for (const bad of [-1, 5, 0.5, Number.NaN, 2 ** 53]) expect(part.isBoundary(bad)).toBe(false);
});
