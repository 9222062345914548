import { describe, expect, test } from "vitest";
import { renderMarkdown } from "./blocks.ts";
import { CORPUS } from "./fixtures/corpus.ts";
import { GrowingMarkdown } from "./growing-markdown.ts";

/** Grows by the pieces; every finished block has to be, for good, what the whole text makes of it. */
function grow(pieces: readonly string[]): { shown: string[]; finished: number } {
  const whole = renderMarkdown(pieces.join(""));
  const growing = new GrowingMarkdown();
  let shown: string[] = [];
  for (const piece of pieces) {
    growing.append(piece);
    const { from, blocks } = growing.render();
    shown = [...shown.slice(0, from), ...blocks];
    const { finishedCount } = growing;
    expect(shown.slice(0, finishedCount)).toEqual(whole.slice(0, finishedCount));
  }
  return { shown, finished: growing.finishedCount };
}

/** Without the lines that are held back until it is clear what they are. */
const wholeOrLess = (text: string, shown: readonly string[]): void => {
  const whole = renderMarkdown(text);
  expect(whole.slice(0, Math.max(0, shown.length - 1))).toEqual(
    shown.slice(0, Math.max(0, shown.length - 1)),
  );
};

describe("text cut anywhere", () => {
  for (const [name, text] of Object.entries(CORPUS)) {
    test(`${name}: in two at every place`, () => {
      const step = text.length > 1_000 ? 37 : 1;
      for (let at = 0; at <= text.length; at += step) grow([text.slice(0, at), text.slice(at)]);
    });

    test(`${name}: letter by letter`, () => {
      if (text.length > 1_000) grow(text.match(/[\s\S]{1,23}/g) ?? []);
      else grow([...text]);
    });
  }

  test("answers made of any of these, in pieces of any size", () => {
    const seed = Date.now() % 1_000_000;
    let state = seed;
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 32;
    };
    // What is never closed makes one block of all that follows, and a late reference is mended later.
    const parts = Object.entries(CORPUS)
      .filter(([name]) => !/never closed|alone|references/.test(name))
      .map(([, text]) => text);
    for (let round = 0; round < 60; round++) {
      const text = Array.from(
        { length: 4 },
        () => (parts[Math.floor(random() * parts.length)] ?? "") + (random() < 0.5 ? "\n" : "\n\n"),
      ).join("");
      const pieces: string[] = [];
      for (let at = 0; at < text.length; ) {
        const size = 1 + Math.floor(random() * 60);
        pieces.push(text.slice(at, at + size));
        at += size;
      }
      try {
        const { shown } = grow(pieces);
        wholeOrLess(text, shown);
      } catch (error) {
        throw new Error(`seed ${seed}, round ${round}: ${JSON.stringify(text)}`, { cause: error });
      }
    }
  });
});

describe("what is finished", () => {
  test("all but the last block of a plain answer", () => {
    const text = "# Title\n\nText.\n\n- a\n- b\n\nMore.\n\n```ts\nlet a;\n```\n\nEnd";
    expect(grow([...text]).finished).toBe(5);
  });

  test("the full pieces of a long fence that is still open", () => {
    const { finished, shown } = grow([
      "```ts\n",
      ...("let a = 1;\n".repeat(170).match(/.+\n/g) ?? []),
    ]);
    expect(finished).toBe(3);
    expect(shown.slice(1).every((block) => block.startsWith('<pre class="continued"'))).toBe(false);
    expect(shown.at(1)).toMatch(/^<pre data-language="ts" class="continued">/);
  });

  test("work per chunk does not grow with the answer", () => {
    const paragraph = `${"Some words of an answer. ".repeat(12)}\n\n- a\n- b\n\n`;
    const growing = new GrowingMarkdown();
    const sizes: number[] = [];
    for (let i = 0; i < 300; i++) {
      growing.append(paragraph);
      sizes.push(growing.render().blocks.length);
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4);
  });

  test("a line that may become anything is not shown before it is something", () => {
    const growing = new GrowingMarkdown();
    growing.append("Text:\n-");
    expect(growing.render().blocks).toEqual(["<p>Text:</p>\n"]);
    growing.append(" item");
    expect(growing.render().blocks).toEqual(["<p>Text:</p>\n", "<ul>\n<li>item</li>\n</ul>\n"]);
  });
});
