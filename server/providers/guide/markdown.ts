// Pieces of Markdown that hold text from elsewhere without letting it out.

/** A code span whose fence is wider than any run of backticks inside. */
export function inlineCode(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (line === "") return "` `";
  const fence = "`".repeat(longestRun(line) + 1);
  const pad = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return `${fence}${pad}${line}${pad}${fence}`;
}

export function codeBlock(text: string, language: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

const longestRun = (text: string): number =>
  Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));

export const number = (n: number): string => n.toLocaleString("en-US");

export const plural = (n: number, noun: string): string =>
  `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

const FENCE_LANGUAGES = new Map(
  Object.entries({
    mjs: "js",
    cjs: "js",
    mts: "ts",
    cts: "ts",
    yml: "yaml",
    markdown: "md",
    h: "c",
    hpp: "cpp",
    cc: "cpp",
    htm: "html",
    pyi: "py",
    bash: "sh",
    zsh: "sh",
    txt: "text",
    lock: "text",
  }),
);

/** What to write behind a fence for a file: mostly its extension. */
export function fenceLanguage(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (name === "dockerfile" || name === "makefile") return name;
  const extension = /\.([a-z0-9]{1,12})$/.exec(name)?.[1] ?? "text";
  return FENCE_LANGUAGES.get(extension) ?? extension;
}
