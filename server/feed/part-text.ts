// The text of one part of a running turn: appended to in pieces, read from any offset. Appending costs
// what the piece costs, however long the text is.

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

export class PartText {
  #pieces: string[] = [];
  /** Where each piece begins. */
  #starts: number[] = [];
  #length = 0;
  /** A high surrogate that waits for its other half. */
  #heldBack = "";

  /** Code units that may be shown: never half a surrogate pair at the end. */
  get length(): number {
    return this.#length;
  }

  append(text: string): void {
    const all = this.#heldBack + text;
    if (all === "") return;
    const cut = isHigh(all.charCodeAt(all.length - 1)) ? all.length - 1 : all.length;
    this.#heldBack = all.slice(cut);
    if (cut === 0) return;
    this.#pieces.push(all.slice(0, cut));
    this.#starts.push(this.#length);
    this.#length += cut;
  }

  /** All there is, what is held back included. */
  whole(): string {
    if (this.#pieces.length > 1) {
      this.#pieces = [this.#pieces.join("")];
      this.#starts = [0];
    }
    return (this.#pieces[0] ?? "") + this.#heldBack;
  }

  /** The shown text from `from` to `to`, which both lie within it. */
  slice(from: number, to: number): string {
    let text = "";
    for (let index = this.#pieceAt(from); index < this.#pieces.length; index += 1) {
      const start = this.#starts[index] ?? 0;
      if (start >= to) break;
      text += (this.#pieces[index] ?? "").slice(Math.max(0, from - start), to - start);
    }
    return text;
  }

  /** True if `offset` lies within the shown text and not inside a surrogate pair. */
  isBoundary(offset: number): boolean {
    if (!Number.isSafeInteger(offset) || offset < 0 || offset > this.#length) return false;
    const around = this.slice(Math.max(0, offset - 1), Math.min(this.#length, offset + 1));
    return around.length < 2 || !(isHigh(around.charCodeAt(0)) && isLow(around.charCodeAt(1)));
  }

  /** Index of the piece that holds `offset`. */
  #pieceAt(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
