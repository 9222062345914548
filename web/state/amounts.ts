// Bytes in words, as storage is sold: powers of a thousand.

const UNITS = ["bytes", "KB", "MB", "GB", "TB"] as const;
const STEP = 1_000;

/** "0 bytes", "640 KB", "1.2 MB", "34 GB". */
export function amount(bytes: number): string {
  let size = Math.max(0, bytes);
  let unit = 0;
  // What would be rounded up to the next unit belongs to it.
  while (Math.round(size) >= STEP && unit < UNITS.length - 1) {
    size /= STEP;
    unit += 1;
  }
  const digits = unit > 0 && size < 9.95 ? 1 : 0;
  return `${size.toFixed(digits)} ${UNITS[unit]}`;
}
