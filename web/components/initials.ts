/** Two letters for a name: of its first and last word, or the first two of its only one. */
export function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const [first, last] = [words[0] ?? "?", words.length > 1 ? words.at(-1) : undefined];
  const letters =
    last === undefined
      ? [...first].slice(0, 2)
      : [...first].slice(0, 1).concat([...last].slice(0, 1));
  return letters.join("").toLocaleUpperCase("en-US");
}
