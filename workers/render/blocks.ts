// Markdown to a list of top-level blocks, each its own HTML. Long code is cut into pieces of fixed
// size, so that no block grows without end while it streams.

import { Lexer, type Token, Tokenizer, type Tokens, type TokensList } from "marked";
import { codeBlock, codeLines, languageOf, renderToken } from "./html-renderer.ts";

const CODE_PIECE_MAX_LINES = 50;
const CODE_PIECE_MAX_CHARS = 4_096;

/** Link references known so far, by label. */
export type Links = TokensList["links"];

/** Raw HTML is text to us: a tag must not change how the text after it is read. */
class PlainTagTokenizer extends Tokenizer<string, string> {
  override tag(src: string): Tokens.Tag | undefined {
    const { inLink, inRawBlock } = this.lexer.state;
    const token = super.tag(src);
    this.lexer.state.inLink = inLink;
    this.lexer.state.inRawBlock = inRawBlock;
    return token;
  }
}

/** Emphasis and links in a paragraph of more than this are not looked for: it may take for ever. */
const INLINE_MAX_CHARS = 16_384;

class BoundedLexer extends Lexer<string, string> {
  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (src.length <= INLINE_MAX_CHARS) return super.inlineTokens(src, tokens);
    tokens.push({ type: "text", raw: src, text: src, escaped: false });
    return tokens;
  }
}

/** Adds the references it finds to `links`; the first of a label counts. Line ends must be `\n`. */
export function lex(text: string, links: Links): Token[] {
  const lexer = new BoundedLexer({ gfm: true, tokenizer: new PlainTagTokenizer() });
  lexer.tokens.links = links;
  return unlessTooDeep<Token[]>(
    () => lexer.lex(text),
    () => [{ type: "code", raw: text, text }],
  );
}

/** Thousands of nested quotes or lists exhaust the stack: such a text is shown as it is written. */
function unlessTooDeep<T>(work: () => T, instead: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) return instead();
    throw error;
  }
}

export function renderBlocks(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token) => {
    if (token.type === "space" || token.type === "def") return [];
    return isCode(token)
      ? renderCode(codeLines(token.text), languageOf(token.lang))
      : [
          unlessTooDeep(
            () => renderToken(token),
            () => codeBlock(codeLines(token.raw), "", false),
          ),
        ];
  });
}

export const isCode = (token: Token): token is Tokens.Code => token.type === "code";

function renderCode(lines: readonly string[], language: string): string[] {
  const { pieces, rest } = cutCode(lines);
  const all = rest.length > 0 || pieces.length === 0 ? [...pieces, rest] : pieces;
  return all.map((piece, index) => codeBlock(piece, language, index > 0));
}

/** Cuts lines into full pieces, which more lines would not change, and the rest. */
export function cutCode(lines: readonly string[]): { pieces: string[][]; rest: string[] } {
  const pieces: string[][] = [];
  let rest: string[] = [];
  let chars = 0;
  for (const line of lines) {
    rest.push(line);
    chars += line.length;
    if (rest.length >= CODE_PIECE_MAX_LINES || chars >= CODE_PIECE_MAX_CHARS) {
      pieces.push(rest);
      rest = [];
      chars = 0;
    }
  }
  return { pieces, rest };
}

/** All at once: what a text's blocks are in the end. */
export const renderMarkdown = (text: string): string[] =>
  renderBlocks(lex(normalizeLines(text), newLinks()));

export const normalizeLines = (text: string): string => text.replace(/\r\n?/g, "\n");

/** No label can be a name that objects inherit. */
export const newLinks = (): Links => Object.create(null);
