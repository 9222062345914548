// Cutting a text to a number of UTF-8 bytes without breaking a character.

/** UTF-8 bytes of a text; a lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isPairAt(text, i)) {
      bytes += 2;
      i += 1;
    } else bytes += 2;
  }
  return bytes;
}

export interface CappedText {
  readonly text: string;
  /** UTF-8 bytes of the whole. */
  readonly totalBytes: number;
  readonly isCut: boolean;
}

/** The longest beginning of `text` that fits in `maxBytes`; whoever shows it says that it was cut. */
export function capText(text: string, maxBytes: number): CappedText {
  // No code unit takes more than three bytes.
  if (text.length * 3 <= maxBytes) return { text, totalBytes: utf8Length(text), isCut: false };
  const totalBytes = utf8Length(text);
  if (totalBytes <= maxBytes) return { text, totalBytes, isCut: false };
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const units = isPairAt(text, end) ? 2 : 1;
    const unit = text.charCodeAt(end);
    bytes += units === 2 ? 4 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
    if (bytes > maxBytes) break;
    end += units;
  }
  return { text: text.slice(0, end), totalBytes, isCut: true };
}

function isPairAt(text: string, index: number): boolean {
  const high = text.charCodeAt(index);
  if (high < 0xd800 || high > 0xdbff) return false;
  const low = text.charCodeAt(index + 1);
  return low >= 0xdc00 && low <= 0xdfff;
}
