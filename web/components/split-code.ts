/** Pieces in turn: text, code, text, … An unpaired backtick stays one. */
export function splitCode(sentence: string): string[] {
  const pieces = sentence.split("`");
  if (pieces.length % 2 === 1) return pieces;
  const rest = pieces.splice(-2).join("`");
  return [...pieces, rest];
}
