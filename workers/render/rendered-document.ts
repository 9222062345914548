// One text on its way to the page: grows by chunks, then is settled. It knows which blocks the page
// has, and gives the patch that brings them up to date.

import { assertNever } from "../../shared/assert-never.ts";
import { renderMarkdown } from "./blocks.ts";
import { GrowingMarkdown } from "./growing-markdown.ts";
import type { BlockPatch, DocumentKey } from "./port.ts";

interface Growing {
  readonly kind: "growing";
  readonly markdown: GrowingMarkdown;
  /** Code units taken in. */
  length: number;
  /** No more chunks will come; the row is on its way. */
  isEnded: boolean;
}

type Content = Growing | { kind: "settled"; text: string; blocks: string[] };

const nothing = (): Growing => ({
  kind: "growing",
  markdown: new GrowingMarkdown(),
  length: 0,
  isEnded: false,
});

export class RenderedDocument {
  readonly #key: DocumentKey;
  #content: Content = nothing();
  /** What the page has, if it was told of anything. */
  readonly #sent: string[] = [];
  #sentOpen: boolean | null = null;
  #needsAll = true;
  isShown = false;

  constructor(key: DocumentKey) {
    this.#key = key;
  }

  /** Nobody needs it once it is hidden: its text is settled, or no more of it will come. */
  get isOver(): boolean {
    return this.#content.kind === "settled" || this.#content.isEnded;
  }

  show(): void {
    this.isShown = true;
    this.#needsAll = true;
  }

  /** False if that changes nothing: a repeat, a chunk after a gap, or one after the end. */
  chunk(offset: number, text: string): boolean {
    if (this.#content.kind === "settled") return false;
    const content = this.#content.isEnded && offset === 0 ? nothing() : this.#content;
    this.#content = content;
    const fresh = offset > content.length ? "" : text.slice(content.length - offset);
    if (fresh === "" || content.isEnded) return false;
    content.markdown.append(fresh);
    content.length += fresh.length;
    return true;
  }

  end(): void {
    if (this.#content.kind === "growing") this.#content.isEnded = true;
  }

  settle(text: string): void {
    if (this.#content.kind === "settled" && this.#content.text === text) return;
    this.#content = { kind: "settled", text, blocks: renderMarkdown(text) };
  }

  /** Null if the page has it all. The page is taken to apply what this returns. */
  takePatch(): BlockPatch | null {
    const { from, blocks, open } = this.#current();
    let same = 0;
    while (same < blocks.length && this.#sent[from + same] === blocks[same]) same++;
    const isSame = same === blocks.length && this.#sent.length === from + same;
    if (isSame && open === this.#sentOpen && !this.#needsAll) return null;
    this.#sent.splice(from, this.#sent.length, ...blocks);
    this.#sentOpen = open;
    const first = this.#needsAll ? 0 : from + same;
    this.#needsAll = false;
    return { key: this.#key, from: first, html: this.#sent.slice(first), open };
  }

  #current(): { from: number; blocks: string[]; open: boolean } {
    const content = this.#content;
    switch (content.kind) {
      case "growing": {
        const { from, blocks } = content.markdown.render();
        // With no chunk yet it may as well be a settled text whose bytes are on their way.
        return { from, blocks, open: content.length > 0 };
      }
      case "settled":
        return { from: 0, blocks: content.blocks, open: false };
      default:
        return assertNever(content);
    }
  }
}
