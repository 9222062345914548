import { describe, expect, it } from "vitest";
import { afterHeading, type Outline, pageLevel } from "./outline.ts";

function levels(...written: number[]): number[] {
  let place: Outline = [];
  return written.map((level) => {
    place = afterHeading(place, level);
    return pageLevel(place);
  });
}

describe("the outline of an answer", () => {
  it("stands under its request's heading, which is of level 2", () => {
    expect(levels(1, 2, 3)).toEqual([3, 4, 5]);
  });

  it("keeps headings of one level on one level, whatever the text begins with", () => {
    expect(levels(2, 2, 3, 2)).toEqual([3, 3, 4, 3]);
    expect(levels(3, 2, 3)).toEqual([3, 3, 4]);
  });

  it("leaves no gap where the text skips a level", () => {
    expect(levels(1, 4, 6, 1, 3)).toEqual([3, 4, 5, 3, 4]);
  });

  it("stops at level 6", () => {
    expect(levels(1, 2, 3, 4, 5, 6)).toEqual([3, 4, 5, 6, 6, 6]);
  });
});
