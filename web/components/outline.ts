// Headings of an answer in the page's own outline. What a model writes starts at any level and skips
// some; those who go from heading to heading must not meet gaps.

/** A request's own heading, under which its answer stands. */
const REQUEST_LEVEL = 2;
const LEVEL_MAX = 6;

/** The levels, as written, of the headings that a place stands under. */
export type Outline = readonly number[];

/** The place after a heading that was written as `written`. */
export const afterHeading = (before: Outline, written: number): Outline => [
  ...before.filter((level) => level < written),
  written,
];

/** The level in the page of the last heading. */
export const pageLevel = (place: Outline): number =>
  Math.min(REQUEST_LEVEL + place.length, LEVEL_MAX);

/** Sets the levels of the headings in `block`; returns the place at its end. */
export function setOutline(block: ParentNode, before: Outline): Outline {
  let place = before;
  for (const heading of block.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    place = afterHeading(place, Number(heading.localName.slice(1)));
    heading.setAttribute("aria-level", String(pageLevel(place)));
  }
  return place;
}
