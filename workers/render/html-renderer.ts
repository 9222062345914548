// Markdown tokens to HTML that holds nothing but the tags below: raw HTML is shown as text, links go
// only to known schemes, images are never loaded. The page sanitizes it once more.

import { Parser, Renderer, type Tokens } from "marked";

const EXTERNAL = /^(?:https?:\/\/|mailto:)/i;
const IN_APP = /^\/s\/[A-Za-z0-9_-]{16,64}(?:#t\d{1,9})?$/;
const NEW_TAB = 'target="_blank" rel="noopener noreferrer"';

class HtmlRenderer extends Renderer<string, string> {
  /** Links may not hold links, also not those that stand for images. */
  #isInLink = false;

  override code({ text, lang }: Tokens.Code): string {
    return codeBlock(codeLines(text), languageOf(lang), false);
  }

  override html(token: Tokens.HTML | Tokens.Tag): string {
    const text = escapeAll(token.text.trim());
    return token.type === "html" && token.block
      ? `<p>${text.replaceAll("\n", "<br>")}</p>\n`
      : text;
  }

  override checkbox({ checked }: Tokens.Checkbox): string {
    const state = checked ? 'checked="" aria-label="Done"' : 'aria-label="To do"';
    return `<input type="checkbox" disabled="" ${state}> `;
  }

  override table(token: Tokens.Table): string {
    return `<div class="table-scroll" tabindex="0">${super.table(token)}</div>\n`;
  }

  override tablecell({ tokens, header, align }: Tokens.TableCell): string {
    const tag = header ? "th" : "td";
    const attribute = align === null ? "" : ` class="align-${align}"`;
    return `<${tag}${attribute}>${this.parser.parseInline(tokens)}</${tag}>\n`;
  }

  override link({ href, title, text, tokens, autolink }: Tokens.Link): string {
    const outer = this.#isInLink;
    this.#isInLink = true;
    const inner = autolink === true ? escapeAll(text) : this.parser.parseInline(tokens);
    this.#isInLink = outer;
    const target = outer ? null : targetOf(href);
    if (target === null) return inner;
    const attribute = typeof title === "string" ? ` title="${escapeMarkup(title)}"` : "";
    return `<a ${target}${attribute}>${inner}</a>`;
  }

  override image({ href, text }: Tokens.Image): string {
    const shown = `Image: ${text === "" ? "" : `${escapeMarkup(text)} – `}${escapeMarkup(href)}`;
    const target = this.#isInLink ? null : targetOf(href);
    return target === null
      ? `<span class="remote-image">${shown}</span>`
      : `<a class="remote-image" ${target}>${shown}</a>`;
  }

  /** Text inside raw HTML too: to us raw HTML is text. */
  override text(token: Tokens.Text | Tokens.Escape): string {
    return super.text(token.type === "text" ? { ...token, escaped: false } : token);
  }
}

/** The attributes of a link there; null: nowhere we let a click go. */
function targetOf(href: string): string | null {
  if (IN_APP.test(href)) return `href="${escapeMarkup(href)}"`;
  if (!EXTERNAL.test(href)) return null;
  try {
    return `href="${escapeMarkup(encodeURI(href).replaceAll("%25", "%"))}" ${NEW_TAB}`;
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

const parser = () => new Parser<string, string>({ renderer: new HtmlRenderer() });

/** HTML of one block that is neither code nor empty. */
export const renderToken = (token: Tokens.Generic): string => parser().parse([token]);

/** The lines of a code block's text, without the newline that ends the last. */
export const codeLines = (text: string): string[] =>
  text === "" ? [] : text.replace(/\n$/, "").split("\n");

export const languageOf = (infoString: string | undefined): string =>
  infoString?.match(/^\S*/)?.[0] ?? "";

/** `isContinued`: this piece follows another of the same block. */
export function codeBlock(
  lines: readonly string[],
  language: string,
  isContinued: boolean,
): string {
  const continued = isContinued ? ' class="continued"' : "";
  const name = escapeMarkup(language);
  const attributes = name === "" ? "" : ` data-language="${name}"`;
  const className = name === "" ? "" : ` class="language-${name}"`;
  const code = lines.map((line) => `${escapeAll(line)}\n`).join("");
  return `<pre${attributes}${continued}><code${className}>${code}</code></pre>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const entityOf = (character: string): string => ENTITIES[character] ?? character;

const escapeAll = (text: string): string => text.replace(/[&<>"']/g, entityOf);
/** Keeps the character references that markdown allows in texts and addresses. */
const escapeMarkup = (text: string): string =>
  text.replace(/[<>"']|&(?!#\d{1,7};|#[Xx][a-fA-F0-9]{1,6};|\w+;)/g, entityOf);
