// Markdown that grows at its end. Blocks that no further text can change are rendered once; only the
// open tail after them is read again, so the cost of a chunk does not grow with the text. What comes
// later may still matter in two cases, which the settled text mends: a link reference defined after
// its use, and a definition whose title goes on over a blank line.

import type { Token } from "marked";
import {
  cutCode,
  isCode,
  type Links,
  lex,
  newLinks,
  normalizeLines,
  renderBlocks,
} from "./blocks.ts";
import { codeBlock, languageOf } from "./html-renderer.ts";

/** A fence, not closed yet, that the tail is inside of: its lines need no markdown. */
interface OpenFence {
  readonly mark: string;
  readonly language: string;
  /** Complete lines that are not in a finished block. */
  lines: string[];
  hasPieces: boolean;
}

/** Unindented, its first line complete. */
const FENCE = /^(`{3,}|~{3,})[^\n]*\n/;
const BLANK_LINE_BEFORE = /\n[ \t]*\n$/;
/** A blank line of more than this is not recognized, which only delays a cut. */
const BLANK_LINE_MAX_CHARS = 64;
const BEGINS_WITH_TEXT_LINE = /^[^\s][^\n]*\n/;
/** A last line that may become anything: shown once it is clear what. */
const UNDECIDED_LINE = /(?:^|\n)[ \t]*(?:[-=*+#>`~|_]+|\d+[.)])[ \t]*$/;

export class GrowingMarkdown {
  readonly #finished: string[] = [];
  readonly #links: Links = newLinks();
  #tail = "";
  #fence: OpenFence | null = null;
  #endsInReturn = false;

  /** How many blocks are what they will be. */
  get finishedCount(): number {
    return this.#finished.length;
  }

  append(text: string): void {
    const whole = this.#endsInReturn ? `\r${text}` : text;
    this.#endsInReturn = whole.endsWith("\r");
    this.#tail += normalizeLines(this.#endsInReturn ? whole.slice(0, -1) : whole);
  }

  /** The blocks from number `from` on; those before are as they were after the last call. */
  render(): { from: number; blocks: string[] } {
    const from = this.#finished.length;
    const open = this.#renderOpen();
    return { from, blocks: [...this.#finished.slice(from), ...open] };
  }

  /** Moves what is finished out of the tail and renders the rest. */
  #renderOpen(): string[] {
    for (;;) {
      if (this.#fence !== null) {
        const open = this.#readFence(this.#fence);
        if (open !== null) return open;
      }
      const shown = this.#tail.replace(UNDECIDED_LINE, "");
      const tokens = lex(shown, Object.assign(newLinks(), this.#links));
      const cut = lastSafeCut(tokens, shown);
      this.#finish(tokens.slice(0, cut.index));
      this.#tail = this.#tail.slice(cut.at);
      const next = tokens[cut.index];
      if (!this.#enterFence(next)) return renderBlocks(tokens.slice(cut.index));
    }
  }

  #finish(tokens: readonly Token[]): void {
    for (const token of tokens) {
      if (token.type === "def") this.#links[token.tag] ??= { href: token.href, title: token.title };
    }
    this.#finished.push(...renderBlocks(tokens));
  }

  #enterFence(token: Token | undefined): boolean {
    const opening = FENCE.exec(this.#tail);
    const mark = opening?.[1];
    if (token === undefined || !isCode(token) || opening === null || mark === undefined)
      return false;
    this.#fence = { mark, language: languageOf(token.lang), lines: [], hasPieces: false };
    this.#tail = this.#tail.slice(opening[0].length);
    return true;
  }

  /** Takes the complete lines. Null: the fence is closed and finished, the tail goes on after it. */
  #readFence(fence: OpenFence): string[] | null {
    const lines = this.#tail.split("\n");
    const last = lines.pop() ?? "";
    const closing = lines.findIndex((line) => closes(fence.mark, line));
    const inside = closing < 0 ? lines : lines.slice(0, closing);
    const { pieces, rest } = cutCode([...fence.lines, ...inside]);
    for (const piece of pieces) {
      this.#finished.push(codeBlock(piece, fence.language, fence.hasPieces));
      fence.hasPieces = true;
    }
    fence.lines = rest;
    if (closing >= 0) {
      this.#finished.push(...openPiece(fence, rest));
      this.#fence = null;
      this.#tail = [...lines.slice(closing + 1), last].join("\n");
      return null;
    }
    this.#tail = last;
    return openPiece(fence, last === "" || mayClose(fence.mark, last) ? rest : [...rest, last]);
  }
}

function openPiece({ language, hasPieces }: OpenFence, lines: readonly string[]): string[] {
  return lines.length > 0 || !hasPieces ? [codeBlock(lines, language, hasPieces)] : [];
}

/** Where the tail may be cut for good: before `index`, which begins at character `at`. */
function lastSafeCut(tokens: readonly Token[], text: string): { index: number; at: number } {
  let best = { index: 0, at: 0 };
  let at = 0;
  for (const [index, token] of tokens.entries()) {
    const rest = text.slice(at);
    // marked may have rewritten what it read; then nothing after it can be told apart.
    if (!rest.startsWith(token.raw)) break;
    const isFence = isCode(token) && FENCE.test(rest);
    const before = text.slice(Math.max(0, at - BLANK_LINE_MAX_CHARS), at);
    const isApart = BLANK_LINE_BEFORE.test(before) && BEGINS_WITH_TEXT_LINE.test(rest);
    if (isFence || isApart) best = { index, at };
    at += token.raw.length;
  }
  return best;
}

/** As CommonMark and marked have it: up to three spaces, at least as many marks, then only spaces. */
function closes(mark: string, line: string): boolean {
  const found = /^ {0,3}(`+|~+) *$/.exec(line)?.[1];
  return found?.startsWith(mark) ?? false;
}

const mayClose = (mark: string, line: string): boolean =>
  line.trim() !== "" && line.trim().replaceAll(mark.charAt(0), "") === "";
