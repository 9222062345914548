// "What is in this folder?": lists it and counts it, reads what describes it, then tells.

import { type Conversation, finalReply, forPeople, type Reply } from "./conversation.ts";
import { inlineCode, number, plural } from "./markdown.ts";
import { describeManifest, firstParagraph, isManifest, isReadme } from "./project-files.ts";
import { read } from "./search-and-read.ts";
import {
  type LineCounts,
  type ListedEntry,
  readFileWindow,
  readLineCounts,
  readListing,
} from "./tool-text.ts";

const LANGUAGES_SHOWN_MAX = 12;
const FOLDERS_SHOWN_MAX = 8;
const DOCUMENTS_READ_MAX = 4;
const README_LINES = 200;

export function overview({ answers }: Conversation, path: string): Reply {
  const listing = answers.find((answer) => answer.name === "list_files");
  if (!listing) {
    return {
      text: "I will look at what is there and count it.",
      calls: [
        { name: "list_files", args: { path } },
        { name: "line_count", args: { path } },
      ],
    };
  }
  if (listing.isError && listing.text.includes(" is a file.") && path !== ".") {
    const reads = answers.filter((answer) => answer.name !== "line_count").slice(1);
    return read({ answers: reads }, { kind: "read", path, startLine: 1, maxLines: null });
  }
  if (listing.isError) return finalReply(`\n\nI could not look there. ${forPeople(listing.text)}`);
  const entries = readListing(listing.text);
  const wanted = documentsOf(entries).map((name) =>
    path === "." ? name : `${path.replace(/\/+$/, "")}/${name}`,
  );
  const wasRead = answers.some((answer) => answer.name === "read_file");
  if (wanted.length > 0 && !wasRead) {
    return {
      text: `\n\nNow what describes it: ${wanted.map(inlineCode).join(", ")}.`,
      calls: wanted.map((file) => ({
        name: "read_file",
        args: isReadme(baseName(file)) ? { path: file, max_lines: README_LINES } : { path: file },
      })),
    };
  }
  const counted = answers.find((answer) => answer.name === "line_count");
  const documents = answers.flatMap((answer) => {
    const window =
      answer.name === "read_file" && !answer.isError ? readFileWindow(answer.text) : null;
    return window ? [window] : [];
  });
  return finalReply(
    [
      ...documents.flatMap(({ path: file, lines }) => {
        const paragraph = isReadme(baseName(file)) ? firstParagraph(lines) : null;
        return paragraph === null ? [] : [`${inlineCode(file)} says:\n\n> ${paragraph}`];
      }),
      ...countSections(
        counted?.isError === false ? readLineCounts(counted.text) : null,
        counted?.text,
        path,
      ),
      ...documents.flatMap(({ path: file, lines }) => describeManifest(file, lines) ?? []),
      ...folderSection(entries, counted ? readLineCounts(counted.text) : null),
    ].join("\n\n"),
  );
}

const baseName = (file: string): string => file.slice(file.lastIndexOf("/") + 1);

function documentsOf(entries: readonly ListedEntry[]): string[] {
  const files = entries.flatMap((entry) => (entry.kind === "file" ? [entry.name] : []));
  const readmes = files.filter(isReadme).slice(0, 1);
  return [...readmes, ...files.filter(isManifest)].slice(0, DOCUMENTS_READ_MAX);
}

/** A sentence with the totals, and a table by language. */
export function countSections(
  counts: LineCounts | null,
  answer: string | undefined,
  path: string,
): string[] {
  if (counts === null) return [`The files could not be counted. ${answer ?? ""}`.trim()];
  const place = path === "." ? "The folder" : inlineCode(path);
  if (counts.allFiles === 0) return [`${place} holds no files, apart from ignored ones.`];
  const others = counts.otherFiles === 0 ? "" : ` and ${plural(counts.otherFiles, "binary file")}`;
  const sentence =
    `${place} holds **${plural(counts.allFiles, "file")}** in all, what ignore files name left out: ` +
    `**${plural(counts.lines, "line")}** in ${plural(counts.textFiles, "text file")}${others}.`;
  const given = counts.isWhole ? [] : ["There are more: counting was given up there."];
  return counts.textFiles === 0
    ? [sentence, ...given]
    : [sentence, ...given, languageTable(counts)];
}

function languageTable({ languages, textFiles, lines }: LineCounts): string {
  const row = (name: string, files: number, count: number) =>
    `| ${name} | ${number(files)} | ${number(count)} |`;
  const shown = languages.slice(0, LANGUAGES_SHOWN_MAX);
  const rest = languages.slice(LANGUAGES_SHOWN_MAX);
  const sum = (key: "files" | "lines") => rest.reduce((total, each) => total + each[key], 0);
  return [
    "| Language | Files | Lines |",
    "| --- | ---: | ---: |",
    ...shown.map((each) => row(each.name, each.files, each.lines)),
    ...(rest.length > 0 ? [row(`${rest.length} more`, sum("files"), sum("lines"))] : []),
    row("**All**", textFiles, lines),
  ].join("\n");
}

function folderSection(entries: readonly ListedEntry[], counts: LineCounts | null): string[] {
  if (counts === null) return [];
  const sections: string[] = [];
  const shown = counts.folders.slice(0, FOLDERS_SHOWN_MAX);
  if (shown.length > 0) {
    const rest = counts.folders.length - shown.length;
    const lines = shown.map(
      ({ name, files, lines }) =>
        `- ${inlineCode(name)}: ${plural(files, "text file")}, ${plural(lines, "line")}`,
    );
    if (rest > 0) lines.push(`- and ${plural(rest, "more folder")}`);
    sections.push(["Folders, the largest first:", "", ...lines].join("\n"));
  }
  const counted = new Set(counts.folders.map(({ name }) => name.replace(/\/$/, "")));
  const left = entries.filter(
    (entry) => entry.kind === "folder" && entry.name !== ".git" && !counted.has(entry.name),
  );
  if (left.length > 0 && counts.isWhole) {
    const names = left.slice(0, FOLDERS_SHOWN_MAX).map((entry) => inlineCode(`${entry.name}/`));
    const more = left.length > names.length ? ` and ${left.length - names.length} more` : "";
    sections.push(`Not counted, being ignored, empty or without text: ${names.join(", ")}${more}.`);
  }
  return sections;
}
