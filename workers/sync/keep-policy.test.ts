import { describe, expect, test } from "vitest";
import type { Change } from "../../shared/protocol/rows.ts";
import {
  deviceIdOf,
  deviceRow,
  sessionIdOf,
  sessionRow,
  type Unnumbered,
} from "../testing/rows.ts";
import {
  type FetchTerms,
  hasSpareRoom,
  isOverBudget,
  knownFrom,
  nextToFetch,
  nextToLeave,
} from "./keep-policy.ts";

const DAY_MS = 24 * 60 * 60_000;
const [a, b, c] = [sessionIdOf("a"), sessionIdOf("b"), sessionIdOf("c")];

const known = (...rows: Unnumbered[]) =>
  knownFrom(rows.map((row, n): Change => ({ ...row, rev: n + 1 })));

const terms = (changed: Partial<FetchTerms> = {}): FetchTerms => ({
  leftOut: new Set([a, b, c]),
  days: null,
  hasSpareRoom: true,
  gaveUp: new Map(),
  ...changed,
});

describe("what is fetched next", () => {
  const three = known(
    sessionRow(a, { modifiedAt: 100 * DAY_MS }),
    sessionRow(b, { modifiedAt: 10 * DAY_MS }),
    sessionRow(c, { modifiedAt: 1 * DAY_MS, pinned: true }),
  );

  test("a pinned session first, for which others may leave", () => {
    expect(nextToFetch(three, terms())).toEqual({ id: c, isSpare: false });
    expect(nextToFetch(three, terms({ hasSpareRoom: false, days: 1 }))).toEqual({
      id: c,
      isSpare: false,
    });
  });

  test("then the last modified, while there is room to spare", () => {
    const leftOut = new Set([a, b]);
    expect(nextToFetch(three, terms({ leftOut }))).toEqual({ id: a, isSpare: true });
    expect(nextToFetch(three, terms({ leftOut, hasSpareRoom: false }))).toBeNull();
  });

  test("of the last days only, counted from the daemon's latest time", () => {
    const leftOut = new Set([b]);
    expect(nextToFetch(three, terms({ leftOut, days: 90 }))).toEqual({ id: b, isSpare: true });
    expect(nextToFetch(three, terms({ leftOut, days: 89 }))).toBeNull();
    const seenToday = known(
      sessionRow(b, { modifiedAt: 10 * DAY_MS }),
      deviceRow(deviceIdOf("d"), { lastSeenAt: 12 * DAY_MS }),
    );
    expect(nextToFetch(seenToday, terms({ leftOut, days: 1 }))).toBeNull();
  });

  test("not one that found no room, until it changes", () => {
    const leftOut = new Set([a]);
    const gaveUp = new Map([[a, 100 * DAY_MS]]);
    expect(nextToFetch(three, terms({ leftOut, gaveUp }))).toBeNull();
    const changed = known(sessionRow(a, { modifiedAt: 100 * DAY_MS + 1 }));
    expect(nextToFetch(changed, terms({ leftOut, gaveUp }))).toEqual({ id: a, isSpare: true });
  });
});

describe("what leaves next", () => {
  const many = known(
    ...Array.from({ length: 40 }, (_, n) => sessionRow(sessionIdOf(`s${n}`), { modifiedAt: n })),
    sessionRow(a, { modifiedAt: 0, pinned: true }),
    sessionRow(b, { modifiedAt: 0 }),
    sessionRow(c, { modifiedAt: 0 }),
  );

  test("the oldest few; never one that is pinned, in use or left out already", () => {
    const leaving = nextToLeave(many, new Set([c]), (id) => id === b);
    expect(leaving.map(({ id }) => id)).toEqual([
      sessionIdOf("s0"),
      sessionIdOf("s1"),
      sessionIdOf("s2"),
    ]);
  });

  test("one at least, while there is one", () => {
    const two = known(sessionRow(a, { modifiedAt: 2 }), sessionRow(b, { modifiedAt: 1 }));
    expect(nextToLeave(two, new Set(), () => false).map(({ id }) => id)).toEqual([b]);
    expect(nextToLeave(two, new Set([a, b]), () => false)).toEqual([]);
  });
});

test("the budget is part of what the browser gives, and room to spare part of that", () => {
  expect(isOverBudget({ usage: 60, quota: 100 })).toBe(false);
  expect(isOverBudget({ usage: 61, quota: 100 })).toBe(true);
  expect(hasSpareRoom({ usage: 47, quota: 100 })).toBe(true);
  expect(hasSpareRoom({ usage: 48, quota: 100 })).toBe(false);
});
