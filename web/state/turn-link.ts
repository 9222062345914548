/** The turn an address' fragment points at: `#t12`. */
export function turnOfHash(hash: string): number | null {
  const match = /^#t(\d{1,9})$/.exec(hash);
  return match ? Number(match[1]) : null;
}
