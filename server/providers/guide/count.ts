// "How many lines of TypeScript", "how many files in src".

import { type Conversation, finalReply, forPeople, type Reply } from "./conversation.ts";
import type { Intent } from "./intent.ts";
import { inlineCode, number, plural } from "./markdown.ts";
import { countSections } from "./overview.ts";
import { type LineCounts, readLineCounts } from "./tool-text.ts";

/** What people call a language that the tool calls otherwise. */
const SHORT_NAMES = new Map(
  Object.entries({
    ts: "typescript",
    js: "javascript",
    py: "python",
    md: "markdown",
    rb: "ruby",
    rs: "rust",
    golang: "go",
    cpp: "c++",
    cs: "c#",
    bash: "shell",
  }),
);

export function count(
  { answers }: Conversation,
  { path, language }: Extract<Intent, { kind: "count" }>,
): Reply {
  const [first] = answers;
  if (!first) return { text: "I will count.", calls: [{ name: "line_count", args: { path } }] };
  if (first.isError) return finalReply(`\n\n${forPeople(first.text)}`);
  const counts = readLineCounts(first.text);
  if (counts === null) {
    const lines = Number(first.text);
    return finalReply(`\n\n${inlineCode(path)} has **${plural(lines, "line")}**.`);
  }
  const told = language === null ? [] : [tellLanguage(counts, language)];
  return finalReply(`\n\n${[...told, ...countSections(counts, first.text, path)].join("\n\n")}`);
}

function tellLanguage({ languages }: LineCounts, asked: string): string {
  const wanted = SHORT_NAMES.get(asked.toLowerCase()) ?? asked.toLowerCase();
  const found = languages.find(({ name }) => name.toLowerCase() === wanted);
  if (!found) return `There is no ${inlineCode(asked)} here that I know as a language.`;
  return `**${plural(found.lines, "line")}** of ${found.name} in **${number(found.files)}** ${found.files === 1 ? "file" : "files"}.`;
}
