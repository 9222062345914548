// Makes text from outside harmless to show and to send on: no terminal escapes, no control or
// invisible format characters, no lone surrogates. What is taken out stays visible as `\u{…}`,
// except terminal escapes and the carriage returns of line ends, which say nothing.

const ESC = String.fromCharCode(0x1b);
const BEL = String.fromCharCode(0x07);
const CSI = String.fromCharCode(0x9b);

/** Control sequences, strings (OSC, DCS, SOS, PM, APC) and short escapes of ECMA-48. */
const TERMINAL_ESCAPES = new RegExp(
  [
    `(?:${ESC}\\[|${CSI})[0-?]*[ -/]*[@-~]`,
    `${ESC}[\\]PX^_][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)`,
    `${ESC}[ -/]*[0-Z\\\\^-~]`,
  ].join("|"),
  "g",
);
/** Cc: controls. Cf: format characters, which can hide or reorder text. Cs: lone surrogates. */
const SUSPECT = /[\p{Cc}\p{Cf}\p{Cs}]/gu;
const HARMLESS = new Set(["\t", "\n", "\u200c", "\u200d"]);
const REPLACEMENT = "\ufffd";

/** Cleaning a clean text changes nothing. Line ends become `\n`. */
export function cleanText(text: string): string {
  if (text.search(SUSPECT) < 0) return text;
  return text
    .replace(TERMINAL_ESCAPES, "")
    .replace(/\r\n?/g, "\n")
    .replace(SUSPECT, (character) => {
      if (HARMLESS.has(character)) return character;
      const code = character.codePointAt(0) ?? 0;
      return code >= 0xd800 && code <= 0xdfff ? REPLACEMENT : `\\u{${code.toString(16)}}`;
    });
}

/** Replaces lone surrogates only, which no UTF-8 can carry. For text that people or models wrote. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, REPLACEMENT);
}

/** Text as a code span of a one-line sentence: cleaned, without backticks or line ends, shortened in the middle. */
export function codeSpan(text: string, maxChars = 120): string {
  const characters = [
    ...cleanText(text)
      .replace(/[\n\t]+/g, " ")
      .replaceAll("`", "'"),
  ];
  if (characters.length > maxChars) {
    const half = Math.floor((maxChars - 1) / 2);
    characters.splice(half, characters.length - 2 * half, "…");
  }
  return `\`${characters.join("") || " "}\``;
}
