import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { capText, utf8Length } from "./cap-text.ts";
import { cleanText, codeSpan, wellFormed } from "./clean-text.ts";

const ESC = "\u001b";

describe("cleanText", () => {
  test("leaves ordinary text alone, emoji with joiners too", () => {
    for (const text of ["", "plain\ttext\n", "naïve 日本語", "👩‍👩‍👧 👍🏽", "क्‍ष"]) {
      expect(cleanText(text)).toBe(text);
    }
  });

  test("takes out terminal escapes whole", () => {
    expect(cleanText(`${ESC}[1;31mred${ESC}[0m`)).toBe("red");
    expect(cleanText(`${ESC}]0;title\u0007text`)).toBe("text");
    expect(cleanText(`${ESC}]8;;http://x${ESC}\\link${ESC}]8;;${ESC}\\`)).toBe("link");
    expect(cleanText(`${ESC}Pq#0${ESC}\\after`)).toBe("after");
    expect(cleanText("\u009b31mred")).toBe("red");
    expect(cleanText(`${ESC}(Btext${ESC}=`)).toBe("text");
  });

  test("makes what could hide or reorder text visible", () => {
    expect(cleanText("a\u202eb")).toBe("a\\u{202e}b");
    expect(cleanText("a\u200bb\ufeffc")).toBe("a\\u{200b}b\\u{feff}c");
    expect(cleanText("a\u0000b\u0007c\u007fd\u0085e")).toBe("a\\u{0}b\\u{7}c\\u{7f}d\\u{85}e");
    expect(cleanText("\u{e0041}")).toBe("\\u{e0041}");
  });

  test("makes one kind of line end of all, and replaces lone surrogates", () => {
    expect(cleanText("a\r\nb\rc")).toBe("a\nb\nc");
    expect(cleanText("a\ud83dz")).toBe("a\ufffdz");
    expect(wellFormed("a\udc00\u0007")).toBe("a\ufffd\u0007");
  });

  test("changes nothing the second time, whatever comes", () => {
    const nasty = fc.string({
      unit: fc.constantFrom(
        ESC,
        "[",
        "]",
        "0",
        ";",
        "m",
        "\\",
        "\u0007",
        "\u009b",
        "\r",
        "\n",
        "\ud800",
        "\udc00",
        "P",
        "\u202e",
      ),
    });
    fc.assert(
      fc.property(nasty, (text) => {
        const clean = cleanText(text);
        expect(cleanText(clean)).toBe(clean);
        expect(clean.replaceAll("\n", "")).not.toMatch(/[\p{Cs}\p{Cc}\p{Cf}]/u);
      }),
    );
  });
});

describe("codeSpan", () => {
  test("holds one line without backticks, shortened in the middle", () => {
    expect(codeSpan("src/a.ts")).toBe("`src/a.ts`");
    expect(codeSpan("a`b\nc")).toBe("`a'b c`");
    expect(codeSpan("")).toBe("` `");
    expect(codeSpan("abcdefghij", 5)).toBe("`ab…ij`");
  });
});

describe("capText", () => {
  test("agrees with TextEncoder on any text, and cuts between characters", () => {
    const encoder = new TextEncoder();
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.nat(40), (text, max) => {
        expect(utf8Length(text)).toBe(encoder.encode(text).length);
        const capped = capText(text, max);
        expect(capped.totalBytes).toBe(utf8Length(text));
        expect(utf8Length(capped.text)).toBeLessThanOrEqual(max);
        expect(text.startsWith(capped.text)).toBe(true);
        expect(capped.isCut).toBe(capped.text !== text);
        const next = text.slice(capped.text.length);
        if (capped.isCut) {
          expect(utf8Length(capped.text + [...next][0])).toBeGreaterThan(max);
        }
      }),
    );
  });
});
