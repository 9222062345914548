import { describe, expect, test } from "vitest";
import { FakeClock } from "../testing/fake-clock.ts";
import { renderMarkdown } from "./blocks.ts";
import type { BlockPatch } from "./port.ts";
import { RenderDesk } from "./render-desk.ts";

const key = "session/1/answer";

function makeDesk() {
  const clock = new FakeClock();
  const sets: BlockPatch[][] = [];
  const desk = new RenderDesk(clock, ({ patches }) => sets.push([...patches]));
  /** The page: what its document looks like after all patches. */
  const page = () => {
    let blocks: string[] = [];
    for (const { from, html } of sets.flat()) {
      expect(from).toBeLessThanOrEqual(blocks.length);
      blocks = [...blocks.slice(0, from), ...html];
    }
    return blocks;
  };
  const chunk = (offset: number, text: string) => desk.input({ type: "chunk", key, offset, text });
  return { clock, sets, desk, page, chunk };
}

describe("patches", () => {
  test("at most one set in a frame, whatever comes", async () => {
    const { clock, sets, desk, page, chunk } = makeDesk();
    desk.request({ type: "show", key });
    await clock.advance(16);
    sets.length = 0;
    const text = "One two three.\n\nFour five six.";
    for (const [at, letter] of [...text].entries()) {
      chunk(at, letter);
      await clock.advance(1);
    }
    await clock.advance(16);
    expect(sets.length).toBeLessThanOrEqual(Math.ceil(text.length / 16) + 1);
    expect(page()).toEqual(renderMarkdown(text));
    expect(sets.at(-1)?.at(-1)).toMatchObject({ key, from: 1, open: true });
  });

  test("repeats and what follows a gap are ignored", async () => {
    const { clock, desk, page, chunk } = makeDesk();
    desk.request({ type: "show", key });
    chunk(0, "Hello");
    chunk(0, "Hello");
    chunk(3, "lo, wor");
    chunk(20, "never");
    chunk(10, "ld");
    await clock.advance(16);
    expect(page()).toEqual(["<p>Hello, world</p>\n"]);
  });

  test("settling sends only what differs from what was shown, and closes the text", async () => {
    const { clock, sets, desk, chunk } = makeDesk();
    desk.request({ type: "show", key });
    chunk(0, "One.\n\nTwo.\n\nThr");
    await clock.advance(16);
    sets.length = 0;
    desk.request({ type: "settle", key, text: "One.\n\nTwo.\n\nThree." });
    await clock.advance(16);
    expect(sets).toEqual([[{ key, from: 2, html: ["<p>Three.</p>\n"], open: false }]]);
    chunk(15, "more");
    desk.request({ type: "settle", key, text: "One.\n\nTwo.\n\nThree." });
    await clock.advance(16);
    expect(sets).toHaveLength(1);
  });

  test("settling what is shown already only closes it", async () => {
    const { clock, sets, desk, chunk } = makeDesk();
    desk.request({ type: "show", key });
    chunk(0, "One.\n\nTwo.");
    await clock.advance(16);
    sets.length = 0;
    desk.request({ type: "settle", key, text: "One.\n\nTwo." });
    await clock.advance(16);
    expect(sets).toEqual([[{ key, from: 2, html: [], open: false }]]);
  });

  test("settling mends a link whose address came late", async () => {
    const { clock, desk, page, chunk } = makeDesk();
    const text = "See [a].\n\nMore.\n\n[a]: https://example.org\n";
    desk.request({ type: "show", key });
    for (const [at, letter] of [...text].entries()) {
      chunk(at, letter);
      await clock.advance(16);
    }
    desk.request({ type: "settle", key, text });
    await clock.advance(16);
    expect(page()).toEqual(renderMarkdown(text));
    expect(page()[0]).toContain("<a href=");
  });

  test("nothing is sent of what is hidden; shown again, it is sent whole", async () => {
    const { clock, sets, desk, page, chunk } = makeDesk();
    chunk(0, "One.\n\n");
    await clock.advance(16);
    expect(sets).toEqual([]);
    desk.request({ type: "show", key });
    await clock.advance(16);
    desk.request({ type: "hide", key });
    chunk(6, "Two.");
    await clock.advance(16);
    expect(sets).toHaveLength(1);
    desk.request({ type: "show", key });
    await clock.advance(16);
    expect(sets.at(-1)).toMatchObject([{ from: 0, html: ["<p>One.</p>\n", "<p>Two.</p>\n"] }]);
    expect(page()).toEqual(["<p>One.</p>\n", "<p>Two.</p>\n"]);
  });

  test("a text whose stream ended stays until it is settled, and begins anew from offset 0", async () => {
    const { clock, desk, page, chunk } = makeDesk();
    desk.request({ type: "show", key });
    chunk(0, "Old text");
    desk.input({ type: "end", key });
    await clock.advance(16);
    chunk(8, " goes on");
    await clock.advance(16);
    expect(page()).toEqual(["<p>Old text</p>\n"]);
    chunk(0, "New");
    await clock.advance(16);
    expect(page()).toEqual(["<p>New</p>\n"]);
  });

  test("a text that nobody shows is forgotten once it has ended", async () => {
    const { clock, sets, desk, chunk } = makeDesk();
    chunk(0, "Text");
    desk.input({ type: "end", key });
    desk.request({ type: "show", key });
    await clock.advance(16);
    expect(sets).toEqual([[{ key, from: 0, html: [], open: false }]]);
  });
});
