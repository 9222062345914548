// "Find TEXT", "read FILE", "list FOLDER".

import { type Conversation, finalReply, type Reply } from "./conversation.ts";
import type { Intent } from "./intent.ts";
import { codeBlock, fenceLanguage, inlineCode, number, plural } from "./markdown.ts";
import { readFileWindow, readListing, readSearch } from "./tool-text.ts";

const HITS_SHOWN_MAX = 20;
const HIT_MAX_CHARS = 160;

export function search(
  { answers }: Conversation,
  intent: Extract<Intent, { kind: "search" }>,
): Reply {
  const [last] = answers.slice(-1);
  const ask = (pattern: string, path: string | null, text: string): Reply => ({
    text,
    calls: [
      {
        name: "grep",
        args: {
          pattern,
          regex: false,
          // All in lower case asks for any case.
          ignore_case: pattern === pattern.toLowerCase(),
          ...(path !== null && { path }),
        },
      },
    ],
  });
  if (!last) {
    const place = intent.path === null ? "" : ` in ${inlineCode(intent.path)}`;
    return ask(intent.text, intent.path, `Searching for ${inlineCode(intent.text)}${place}.`);
  }
  if (last.isError) {
    if (intent.path !== null && intent.whole !== intent.text && answers.length === 1) {
      const why = `\n\nThere is no ${inlineCode(intent.path)}, so I take it as part of the text.`;
      return ask(intent.whole, null, why);
    }
    return finalReply(`\n\nThe search did not work. ${last.text}`);
  }
  return finalReply(`\n\n${tellHits(last.text, String(last.args.pattern ?? intent.text))}`);
}

function tellHits(answer: string, pattern: string): string {
  const { matches, filesSearched, hits } = readSearch(answer);
  const searched = filesSearched === null ? "" : `, of ${plural(filesSearched, "file")} searched`;
  if (matches === null) return `Nothing contains ${inlineCode(pattern)}${searched}.`;
  const atLeast = matches.atLeast ? "at least " : "";
  const shown = hits.slice(0, HITS_SHOWN_MAX);
  const lines = shown.map(({ path, line, text }) => {
    const short = text.trim();
    const cut = short.length > HIT_MAX_CHARS ? `${short.slice(0, HIT_MAX_CHARS)}…` : short;
    return `- ${inlineCode(`${path}:${line}`)} ${inlineCode(cut)}`;
  });
  const rest = matches.lines - shown.length;
  return [
    `${inlineCode(pattern)} is on **${atLeast}${plural(matches.lines, "line")}** in **${atLeast}${plural(matches.files, "file")}**${searched}.`,
    "",
    ...lines,
    ...(rest > 0
      ? ["", `${atLeast}${number(rest)} more ${rest === 1 ? "is" : "are"} not shown here.`]
      : []),
  ].join("\n");
}

export function read({ answers }: Conversation, intent: Extract<Intent, { kind: "read" }>): Reply {
  const [first] = answers;
  if (!first) {
    const { startLine, maxLines } = intent;
    return {
      text: `Reading ${inlineCode(intent.path)}.`,
      calls: [
        {
          name: "read_file",
          args: {
            path: intent.path,
            ...(startLine > 1 && { start_line: startLine }),
            ...(maxLines !== null && { max_lines: maxLines }),
          },
        },
      ],
    };
  }
  if (first.isError && first.text.includes(" is a folder."))
    return list({ answers: answers.slice(1) }, intent.path);
  if (first.isError) return finalReply(`\n\n${first.text}`);
  const window = readFileWindow(first.text);
  if (window === null || window.lines.length === 0) {
    return finalReply(`\n\n${inlineCode(intent.path)} is empty.`);
  }
  const block = codeBlock(window.lines.join("\n"), fenceLanguage(window.path));
  const rest =
    window.continuesAt === null
      ? ""
      : `\n\nThere is more: ask for ${inlineCode(`read ${intent.path} from line ${window.continuesAt}`)}.`;
  const range =
    window.first === window.last
      ? `line ${window.first}`
      : `lines ${number(window.first)}–${number(window.last)}`;
  return finalReply(
    `\n\n${inlineCode(window.path)}, ${range} of ${window.total}:\n\n${block}${rest}`,
  );
}

export function list({ answers }: Pick<Conversation, "answers">, path: string): Reply {
  const [first] = answers;
  if (!first) return { text: "Listing it.", calls: [{ name: "list_files", args: { path } }] };
  if (first.isError) return finalReply(`\n\n${first.text}`);
  const entries = readListing(first.text);
  const place = path === "." ? "The folder" : inlineCode(path);
  if (entries.length === 0) return finalReply(`\n\n${place} is empty.`);
  const names = entries.map(
    (entry) => `- ${inlineCode(entry.kind === "folder" ? `${entry.name}/` : entry.name)}`,
  );
  const cut = /\n\[(cut: .*)\]$/.exec(first.text)?.[1];
  return finalReply(
    [
      `\n\n${place} holds ${first.text.split("\n")[1]?.replace(/^entries: /, "") ?? ""}:`,
      "",
      ...names,
      ...(cut ? ["", cut] : []),
    ].join("\n"),
  );
}
