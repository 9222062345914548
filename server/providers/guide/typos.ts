// Slips of the keyboard in the words that say what is wanted.

const WORDS = [
  "what",
  "is",
  "in",
  "this",
  "the",
  "search",
  "find",
  "grep",
  "read",
  "show",
  "open",
  "list",
  "explain",
  "describe",
  "summarize",
  "overview",
  "count",
  "many",
  "help",
  "continue",
  "thanks",
];
/** What is asked for stands at the beginning; behind it are names, which are never changed. */
const WORDS_LOOKED_AT = 3;
/** Shorter words are one slip away from too many others. */
const DROPPED_LETTER_MIN_CHARS = 4;

/** The request with its first words put right; null if none is a slip. */
export function withoutTypos(text: string): string | null {
  const words = text.split(" ");
  const righted = words.map((word, at) =>
    at < WORDS_LOOKED_AT ? (rightWord(word) ?? word) : word,
  );
  const whole = righted.join(" ");
  return whole === text ? null : whole;
}

function rightWord(word: string): string | null {
  const typed = word.toLowerCase();
  if (!/^[a-z]+$/.test(typed) || WORDS.includes(typed)) return null;
  return WORDS.find((known) => isSwapped(typed, known) || isOneOff(typed, known)) ?? null;
}

/** Two neighbouring letters in the wrong order. */
function isSwapped(typed: string, known: string): boolean {
  if (typed.length !== known.length) return false;
  const at = [...known].findIndex((letter, index) => typed[index] !== letter);
  const swapped = `${typed.slice(0, at)}${typed[at + 1]}${typed[at]}${typed.slice(at + 2)}`;
  return at >= 0 && swapped === known;
}

/** One letter too many or too few. */
function isOneOff(typed: string, known: string): boolean {
  if (Math.abs(typed.length - known.length) !== 1) return false;
  const [short, long] = typed.length < known.length ? [typed, known] : [known, typed];
  if (short.length < DROPPED_LETTER_MIN_CHARS) return false;
  const at = [...long].findIndex((letter, index) => short[index] !== letter);
  return long.slice(0, at) + long.slice(at + 1) === short;
}
