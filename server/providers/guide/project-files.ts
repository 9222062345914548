// Files that describe a project: which they are, and what they say.

import { inlineCode, plural } from "./markdown.ts";

const PARAGRAPH_MAX_CHARS = 700;
/** A readme's first prose is near its top; the rest is not worth matching patterns against. */
const README_CONSIDERED_CHARS = 8_000;
const SCRIPTS_SHOWN_MAX = 16;

export const isReadme = (name: string): boolean =>
  /^readme(?:\.(?:md|markdown|rst|txt|adoc|org))?$/i.test(name);
export const isManifest = (name: string): boolean =>
  name === "package.json" ||
  name === "Cargo.toml" ||
  name === "pyproject.toml" ||
  name === "go.mod";

/** The first paragraph that is prose: no heading, badge, list, table, code or HTML. On one line. */
export function firstParagraph(lines: readonly string[]): string | null {
  const text = lines
    .join("\n")
    .slice(0, README_CONSIDERED_CHARS)
    .replace(/^---\n[\s\S]*?\n---\n/, "")
    .replace(/<!--[\s\S]*?-->/g, "");
  const withoutCode = text.replace(/^(`{3,}|~{3,})[\s\S]*?^\1.*$/gm, "");
  for (const block of withoutCode.split(/\n\s*\n/)) {
    const prose = block
      .split("\n")
      .filter((line) => !/^\s*(?:#|=+\s*$|-{2,}\s*$|\[?!\[|<|\.\. |\[[^\]]+\]:)/.test(line))
      .map((line) => line.replace(/^\s*>\s?/, "").trim());
    const paragraph = prose.join(" ").trim();
    const isList = /^(?:[-*+|]|\d+[.)])\s/.test(paragraph) || /^ {4}|^\t/.test(block);
    const isHeading = /\n(?:=+|-{2,})\s*$/.test(block);
    if (isList || isHeading || (paragraph.match(/[\p{L}\p{N}]+/gu) ?? []).length < 4) continue;
    return shorten(paragraph);
  }
  return null;
}

function shorten(paragraph: string): string {
  if (paragraph.length <= PARAGRAPH_MAX_CHARS) return paragraph;
  const cut = paragraph.slice(0, PARAGRAPH_MAX_CHARS);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), 1))} …`;
}

/** Null when there is nothing to say, or the file is none of those known. */
export function describeManifest(file: string, lines: readonly string[]): string | null {
  switch (file.slice(file.lastIndexOf("/") + 1)) {
    case "package.json":
      return describePackage(file, lines.join("\n"));
    case "Cargo.toml":
      return describeToml(file, lines, "package", "the Rust package");
    case "pyproject.toml":
      return describeToml(file, lines, "project", "the Python project");
    case "go.mod": {
      const name = lines.flatMap((line) => /^module\s+(\S+)/.exec(line)?.[1] ?? [])[0];
      return name === undefined
        ? null
        : `${inlineCode(file)} names the Go module ${inlineCode(name)}.`;
    }
    default:
      return null;
  }
}

function describePackage(file: string, json: string): string | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return `${inlineCode(file)} could not be read as JSON.`;
  }
  const text = (key: string): string | null => {
    const value = field(parsed, key);
    return typeof value === "string" && value !== "" ? value : null;
  };
  const name = text("name");
  const version = text("version");
  const description = text("description");
  const scripts = keysOf(field(parsed, "scripts"));
  const needs = keysOf(field(parsed, "dependencies")).length;
  const needsForWork = keysOf(field(parsed, "devDependencies")).length;
  const sentences = [
    `${inlineCode(file)} ${name === null ? "names no package" : `names the package ${inlineCode(name)}`}${version === null ? "" : `, version ${inlineCode(version)}`}, ` +
      `with ${needs === 1 ? "1 dependency" : `${needs} dependencies`} and ${needsForWork} for development.`,
  ];
  if (description !== null) sentences.push(`It says: ${inlineCode(description)}.`);
  if (scripts.length > 0) {
    const shown = scripts.slice(0, SCRIPTS_SHOWN_MAX).map(inlineCode).join(", ");
    const rest = scripts.length - SCRIPTS_SHOWN_MAX;
    sentences.push(
      `${plural(scripts.length, "script")}: ${shown}${rest > 0 ? ` and ${rest} more` : ""}.`,
    );
  }
  return sentences.join(" ");
}

function describeToml(
  file: string,
  lines: readonly string[],
  table: string,
  what: string,
): string | null {
  const facts = new Map<string, string>();
  let current = "";
  for (const line of lines) {
    const heading = /^\s*\[([^\][]+)\]\s*(?:#.*)?$/.exec(line)?.[1];
    if (heading !== undefined) current = heading.trim();
    const pair = /^\s*(name|version|description)\s*=\s*(?:"([^"]*)"|'([^']*)')/.exec(line);
    if (current === table && pair?.[1] !== undefined) facts.set(pair[1], pair[2] ?? pair[3] ?? "");
  }
  const name = facts.get("name");
  if (name === undefined) return null;
  const version = facts.get("version");
  const description = facts.get("description");
  return (
    `${inlineCode(file)} names ${what} ${inlineCode(name)}${version === undefined ? "" : `, version ${inlineCode(version)}`}.` +
    (description ? ` It says: ${inlineCode(description)}.` : "")
  );
}

const keysOf = (value: unknown): string[] =>
  typeof value === "object" && value !== null ? Object.keys(value) : [];

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
