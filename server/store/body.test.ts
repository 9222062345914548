import fc from "fast-check";
import { expect, test } from "vitest";
import { packBytes, packValue, unpackBytes, unpackValue } from "./body.ts";

test("unpacks what was packed, and packs the same bytes the same way", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 2_000 }),
    fc.nat(5_000).map((length) => new Uint8Array(length).fill(7)),
  );
  fc.assert(
    fc.property(bytes, (given) => {
      const body = packBytes(given);
      expect(Buffer.compare(unpackBytes(body, given.length, "It"), given)).toBe(0);
      expect(body.length).toBeLessThanOrEqual(given.length + 1);
      expect(Buffer.compare(packBytes(given), body)).toBe(0);
    }),
  );
});

test("deflates only what becomes shorter by it", () => {
  expect(packBytes(new Uint8Array(512))).toHaveLength(513);
  expect(packBytes(new Uint8Array(5_000)).length).toBeLessThan(100);
  const noise = crypto.getRandomValues(new Uint8Array(5_000));
  expect(packBytes(noise)).toHaveLength(5_001);
});

test("refuses damaged bodies, naming what they are", () => {
  const { body, size } = packValue({ text: "word ".repeat(1_000) });
  expect(body[0]).toBe(1);
  const damaged = [
    new Uint8Array(),
    new Uint8Array([9, 1]),
    body.subarray(0, body.length - 5),
    new Uint8Array([1, 255, 255, 255]),
    new Uint8Array([0, 0x81]),
  ];
  for (const bad of damaged) {
    expect(() => unpackValue(bad, "It", size)).toThrow(
      expect.objectContaining({ code: "corrupt" }),
    );
  }
  expect(() => unpackValue(body, "It", size - 1)).toThrow("It");
  expect(() => unpackValue(body, "It", size + 1)).toThrow("It");
});
