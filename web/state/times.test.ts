import { describe, expect, it } from "vitest";
import { ago, counted, duration, elapsed, shortAge, timeLeft } from "./times.ts";

const NOW = new Date(2026, 10, 18, 15, 0).getTime();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("shortAge", () => {
  it.each([
    [0, "now"],
    [-5_000, "now"],
    [2 * MINUTE, "2m"],
    [14 * HOUR, "14h"],
    [16 * HOUR, "Tue"],
    [3 * DAY, "Sun"],
    [8 * DAY, "10 Nov"],
    [400 * DAY, "14 Oct 2025"],
  ])("words an age of %d ms", (age, words) => {
    expect(shortAge(NOW - age, NOW)).toBe(words);
  });
});

describe("timeLeft", () => {
  it.each([
    [-1, "0 min"],
    [30_000, "1 min"],
    [HOUR, "1 h"],
    [DAY, "24 h"],
    [2 * DAY, "2 days"],
    [7 * DAY + 20_000, "7 days"],
  ])("words %d ms that are left", (left, words) => {
    expect(timeLeft(NOW + left, NOW)).toBe(words);
  });
});

describe("ago", () => {
  it.each([
    [-1, "just now"],
    [400, "just now"],
    [2_000, "2 s ago"],
    [12 * MINUTE, "12 min ago"],
    [3 * HOUR, "3 h ago"],
    [DAY, "yesterday"],
    [5 * DAY, "5 days ago"],
  ])("words an age of %d ms", (age, words) => {
    expect(ago(NOW - age, NOW)).toBe(words);
  });
});

describe("duration", () => {
  it.each([
    [38, "38 ms"],
    [1_240, "1.2 s"],
    [21_400, "21.4 s"],
    [185_000, "3 min 5 s"],
  ])("words %d ms", (ms, words) => {
    expect(duration(ms)).toBe(words);
  });
});

it("counts with the right number and thousands", () => {
  expect([counted(1, "file"), counted(1204, "file"), counted(0, "entry", "entries")]).toEqual([
    "1 file",
    "1,204 files",
    "0 entries",
  ]);
});

describe("elapsed", () => {
  it.each([
    [-200, "0 s"],
    [7_900, "7 s"],
    [185_000, "3 min 5 s"],
  ])("words %i ms as %s, in whole seconds", (ms, words) => {
    expect(elapsed(ms)).toBe(words);
  });
});
