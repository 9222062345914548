import { describe, expect, test } from "vitest";
import { renderMarkdown } from "./blocks.ts";
import { CORPUS } from "./fixtures/corpus.ts";
import { GrowingMarkdown } from "./growing-markdown.ts";

const html = (text: string) => renderMarkdown(text).join("");

const TAGS = new Set(
  "p h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code hr br div span a strong em del table thead tbody tr th td input".split(
    " ",
  ),
);
const ATTRIBUTES = new Set(
  "class href target rel title start data-language type checked disabled tabindex aria-label".split(
    " ",
  ),
);

const ALLOWED_HREF = /^(https?:\/\/|mailto:|\/s\/)/i;

/** Reads the tags as a browser would: a `<` in a text or an attribute is always escaped. */
function check(markup: string): void {
  const wrong: string[] = [];
  const rest = markup.replace(
    /<\/?([a-z][a-z0-9]*)((?: [a-z-]+="[^"<>]*")*)>/g,
    (found: string, tag: string, attributes: string) => {
      if (!TAGS.has(tag)) wrong.push(found);
      for (const [, name = "", value = ""] of attributes.matchAll(/ ([a-z-]+)="([^"]*)"/g)) {
        const isAllowed = ATTRIBUTES.has(name) && (name !== "href" || ALLOWED_HREF.test(value));
        if (!isAllowed) wrong.push(found);
      }
      return "";
    },
  );
  expect({ wrong, leftOver: rest.match(/.{0,20}[<>].{0,20}/g) }).toEqual({
    wrong: [],
    leftOver: null,
  });
}

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "Text <img src=x onerror=alert(1)> text",
  "<svg><script>alert(1)</script></svg>\n\n<math>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1)) [y](java\tscript:alert(1)) [z](&#106;avascript:alert(1))",
  "[x](<javascript:alert(1)>) <javascript:alert(1)> [y](data:text/html,<script>alert(1)</script>)",
  "[x](vbscript:x) [y](file:///etc/passwd) [z](//evil.example) [w](/s/../x) [v](https:evil)",
  '[x](/s/AAAAAAAAAAAAAAAAAAAAAA"onclick="alert(1))',
  '[x](https://example.org/"onmouseover="alert(1)) [y](https://e.org \'a" onclick="b\')',
  '[x](https://example.org "</a><script>")',
  '![x"onerror="alert(1)](https://example.org/x.png"onerror="y)',
  "![](javascript:alert(1)) ![a](data:image/svg+xml,<svg/onload=alert(1)>)",
  "[![x](javascript:alert(1))](https://example.org)",
  "[a [b](https://b.example) c](https://a.example)",
  '```"><script>alert(1)</script>\n</code></pre><script>alert(1)</script>\n```',
  '```x" onload="alert(1)\ncode\n```',
  "~~~<img src=x onerror=alert(1)>\n~~~",
  "    </code></pre><script>alert(1)</script>",
  "`</code><script>alert(1)</script>`",
  "| <script> | b |\n|---|---|\n| <img src=x onerror=y> | `</td>` |",
  "- <script>\n- [ ] <input onfocus=alert(1) autofocus>\n",
  "> <iframe src=javascript:alert(1)>\n> </iframe>",
  "<pre>unclosed *a*\n\ntext <b onclick=x>\n\n<code>\n\n<kbd>&lt;script&gt;",
  "&lt;script&gt; &#60;script&#62; &#x3C;img src=x onerror=y&#x3E;",
  "<!-- --><script>alert(1)</script> --> <![CDATA[<script>]]> <?php <script> ?>",
  "[x]: javascript:alert(1)\n\n[x] [y][x] ![z][x]",
  "[__proto__]: https://example.org\n\n[__proto__] [constructor] [toString]",
  '<a href="javascript:alert(1)">x</a> <https://example.org/<script>>',
  'http://example.org/<script>alert(1)</script> www.example.org/"onclick="x',
  "\u0000<scr\u0000ipt>\u2028<b>",
  "[x](https://example.org/%E0%A4%A) [y](https://example.org/\ud800)",
  `${"> ".repeat(200)}deep\n\n${"- ".repeat(200)}deep\n\n${"*".repeat(500)}${"[".repeat(500)}`,
];

describe("what leaves the renderer", () => {
  for (const text of HOSTILE) {
    test(`hostile: ${JSON.stringify(text.slice(0, 70))}`, () => {
      check(html(text));
      const growing = new GrowingMarkdown();
      const size = Math.max(3, text.length / 100);
      for (let at = 0; at < text.length; at += size) {
        growing.append(text.slice(at, at + size));
        check(growing.render().blocks.join(""));
      }
    });
  }

  for (const [name, text] of Object.entries(CORPUS)) {
    test(`corpus: ${name}`, () => check(html(text)));
  }

  test("what would take for ever or exhaust the stack is shown as it is written", () => {
    for (const text of ["> ".repeat(5_000), "- ".repeat(5_000), "a_".repeat(50_000)]) {
      const shown = html(`${text}x`);
      check(shown);
      expect(shown).toContain("x");
    }
  });

  test("links out open apart and tell nothing; links within are plain; others are text", () => {
    expect(html("[a](https://example.org/?a=1&b=2)")).toBe(
      '<p><a href="https://example.org/?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">a</a></p>\n',
    );
    expect(html("[b](/s/AAAAAAAAAAAAAAAAAAAAAA#t12)")).toBe(
      '<p><a href="/s/AAAAAAAAAAAAAAAAAAAAAA#t12">b</a></p>\n',
    );
    expect(html("[c](javascript:alert) [d](src/a.ts)")).toBe("<p>c d</p>\n");
  });

  test("an image is never loaded, only named", () => {
    expect(html("![A cat](https://example.org/cat.png)")).toBe(
      '<p><a class="remote-image" href="https://example.org/cat.png" target="_blank" rel="noopener noreferrer">Image: A cat – https://example.org/cat.png</a></p>\n',
    );
    expect(html("[![A](https://e.org/a.png)](https://e.org)")).toContain(
      '<span class="remote-image">Image: A – https://e.org/a.png</span></a>',
    );
  });

  test("raw HTML is shown as the text it is", () => {
    expect(html("<div>\n<b>x</b>\n</div>")).toBe(
      "<p>&lt;div&gt;<br>&lt;b&gt;x&lt;/b&gt;<br>&lt;/div&gt;</p>\n",
    );
    expect(html("a <kbd>*x*</kbd>")).toBe("<p>a &lt;kbd&gt;<em>x</em>&lt;/kbd&gt;</p>\n");
  });

  test("code, tables and tasks", () => {
    expect(html("```ts title=x\na < b\n```")).toBe(
      '<pre data-language="ts"><code class="language-ts">a &lt; b\n</code></pre>\n',
    );
    expect(html("| a | b |\n|---|--:|\n| 1 | 2 |")).toBe(
      '<div class="table-scroll" tabindex="0"><table>\n<thead>\n<tr>\n<th>a</th>\n<th class="align-right">b</th>\n</tr>\n</thead>\n<tbody><tr>\n<td>1</td>\n<td class="align-right">2</td>\n</tr>\n</tbody></table>\n</div>\n',
    );
    expect(html("- [x] a\n- [ ] b")).toBe(
      '<ul>\n<li><input type="checkbox" disabled="" checked="" aria-label="Done"> a</li>\n<li><input type="checkbox" disabled="" aria-label="To do"> b</li>\n</ul>\n',
    );
  });
});
