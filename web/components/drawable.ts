// Built from code points: a literal control character in a pattern reads as a mistake.
const CONTROLS = new RegExp(
  `[${String.fromCharCode(0)}-\\b\\v\\f${String.fromCharCode(14)}-${String.fromCharCode(31)}\\u202a-\\u202e\\u2066-\\u2069]`,
  "g",
);

/** Without the characters that could make text on screen differ from what it says. */
export const drawable = (text: string): string => text.replace(CONTROLS, "\ufffd");
