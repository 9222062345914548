// "Find TEXT", "read FILE", "list FOLDER".

import { type Conversation, finalReply, forPeople, type Reply } from "./conversation.ts";
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
    const isMissing = last.text.startsWith("There is no ");
    if (isMissing && intent.path !== null && intent.whole !== intent.text && answers.length === 1) {
      const why = `\n\nThere is no ${inlineCode(intent.path)}, so I take it as part of the text.`;
      return ask(intent.whole, null, why);
    }
    return finalReply(`\n\nThe search did not work. ${forPeople(last.text)}`);
  }
  return finalReply(`\n\n${tellHits(last.text, String(last.args.pattern ?? intent.text))}`);
}

function tellHits(answer: string, pattern: string): string {
  const { matches, filesSearched, hits, leftOut } = readSearch(answer);
  const searched = filesSearched === null ? "" : `, of ${plural(filesSearched, "file")} searched`;
  const unseen = leftOut === null ? [] : ["", `Not looked at: ${leftOut}.`];
  if (matches === null) {
    return [`Nothing contains ${inlineCode(pattern)}${searched}.`, ...unseen].join("\n");
  }
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
    ...unseen,
  ].join("\n");
}

export function read(
  { answers }: Pick<Conversation, "answers">,
  intent: Extract<Intent, { kind: "read" }>,
): Reply {
  const [first, listing, second] = answers;
  if (!first) return askToRead(`Reading ${inlineCode(intent.path)}.`, intent, intent.path);
  if (!first.isError) return tellWindow(first.text, intent.path);
  if (first.text.includes(" is a folder.")) return list({ answers: answers.slice(1) }, intent.path);
  const cut = intent.path.lastIndexOf("/");
  const folder = cut < 0 ? "" : intent.path.slice(0, cut);
  if (!listing && first.text.startsWith("There is no ")) {
    return { text: "", calls: [{ name: "list_files", args: { path: folder || "." } }] };
  }
  const name = !listing || listing.isError ? null : nameMeant(intent.path, listing.text);
  if (name === null) return finalReply(`\n\n${forPeople(first.text)}`);
  const path = folder === "" ? name : `${folder}/${name}`;
  if (!second) return askToRead(`\n\nIt is called ${inlineCode(name)} here.`, intent, path);
  return second.isError
    ? finalReply(`\n\n${forPeople(second.text)}`)
    : tellWindow(second.text, path);
}

const askToRead = (
  text: string,
  { startLine, maxLines }: Extract<Intent, { kind: "read" }>,
  path: string,
): Reply => ({
  text,
  calls: [
    {
      name: "read_file",
      args: {
        path,
        ...(startLine > 1 && { start_line: startLine }),
        ...(maxLines !== null && { max_lines: maxLines }),
      },
    },
  ],
});

/** The one file of a listing whose name differs only in case, or in an ending that was left out. */
function nameMeant(path: string, listing: string): string | null {
  const wanted = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const files = readListing(listing).flatMap(({ kind, name }) => (kind === "file" ? [name] : []));
  const alike = (trim: (name: string) => string) =>
    files.filter((name) => trim(name.toLowerCase()) === wanted);
  const [same] = alike((name) => name);
  if (same !== undefined) return same;
  const [only, another] = alike((name) => name.replace(/\.[^.]+$/, ""));
  return another === undefined ? (only ?? null) : null;
}

function tellWindow(answer: string, path: string): Reply {
  const window = readFileWindow(answer);
  if (window === null || window.lines.length === 0) {
    return finalReply(`\n\n${inlineCode(path)} is empty.`);
  }
  const block = codeBlock(window.lines.join("\n"), fenceLanguage(window.path));
  const rest =
    window.continuesAt === null
      ? ""
      : `\n\nThere is more: ask for ${inlineCode(`read ${path} from line ${window.continuesAt}`)}.`;
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
  if (first.isError) return finalReply(`\n\n${forPeople(first.text)}`);
  const entries = readListing(first.text);
  const place = path === "." ? "The folder" : inlineCode(path);
  if (entries.length === 0) return finalReply(`\n\n${place} is empty.`);
  const names = entries.map(
    (entry) => `- ${inlineCode(entry.kind === "folder" ? `${entry.name}/` : entry.name)}`,
  );
  const totals = (first.text.split("\n")[1] ?? "").replace(/^entries: (\d+)/, (_, n) =>
    n === "1" ? "1 entry" : `${number(Number(n))} entries`,
  );
  const cut = /\n\[(cut: .*)\]$/.exec(first.text)?.[1];
  return finalReply(
    [`\n\n${place} holds ${totals}:`, "", ...names, ...(cut ? ["", cut] : [])].join("\n"),
  );
}
