// What a person asks of the guide, read from plain English by rules. Forgiving about words around
// the request and slips in it, not about what it does not know.

import { withoutTypos } from "./typos.ts";

export type Intent =
  | { kind: "overview"; path: string }
  | { kind: "list"; path: string }
  /** `path` null: everywhere. `whole`: the text if what looked like a path was part of it. */
  | { kind: "search"; text: string; path: string | null; whole: string }
  | { kind: "read"; path: string; startLine: number; maxLines: number | null }
  /** `language` null: all of them. */
  | { kind: "count"; path: string; language: string | null }
  | { kind: "thanks" }
  | { kind: "help" }
  | { kind: "continue" }
  | { kind: "unknown" };

/** What is longer is no plain request; its beginning decides. */
const REQUEST_MAX_CHARS = 1_000;
const POLITE =
  /^(?:(?:hi|hello|hey|ok|okay|so|now|and|then|please|pls)\b[,!.]*\s+|(?:can|could|would|will) you (?:please )?|i(?:'d| would) like (?:you )?to |i want (?:you )?to |let'?s )+/i;
const HERE =
  /^(?:(?:in|of|about|inside|within)\s+)?(?:(?:this|the|that|my|current|working|whole|entire|our)\s+)*(?:folder|directory|dir|project|repo|repository|codebase|code|workspace|tree|files?|here|it|this)?$/i;

const OVERVIEW = [
  /^what(?:'s|s| is| do we have)\s+(here|there)$/i,
  /^(?:what(?:'s|s| is| are| do we have|'s there| files are)?|show me what(?:'s| is)?|tell me what(?:'s| is)?|see what(?:'s| is)?)\s+(?:there\s+)?(?:in|inside|within)\s+(.+)$/i,
  /^what(?:'s|s| is| does)\s+(this|(?:this|the|that)\s+(?:folder|directory|project|repo|repository|codebase|code))(?:\s+(?:about|do|all about|for))?$/i,
  /^(?:explain|describe|summari[sz]e|analy[sz]e|introduce|outline|survey)(?:\s+to me|\s+me)?(?:\s+(.*))?$/i,
  /^(?:give me |show me |show )?(?:an? |the )?(?:overview|summary|tour|outline|introduction)(?:\s+(.*))?$/i,
  /^(?:tell me |what can you tell me )about\s+(.+)$/i,
  /^look (?:around|at)\s*(.*)$/i,
];
const SEARCH =
  /^(?:search(?:\s+(?:for|through|the (?:code|files?) for|all files for))?|find(?:\s+(?:me|all|every|any))*(?:\s+(?:occurrences?|uses?|mentions?|matches?|places?|lines?)\s+(?:of|with|for|containing))?|grep(?:\s+for)?|look\s+for|where(?:'s|\s+is|\s+are|\s+do(?:es)?)|locate|rg)\s+(.+)$/i;
const READ =
  /^(?:read|show|open|cat|print|view|display|see)(?:\s+me)?(?:\s+the)?(?:\s+(?:file|contents?\s+of|text\s+of))?\s+(.+)$/i;
const LIST =
  /^(?:list|ls|dir)(?:\s+(?:the\s+)?(?:files|entries|contents?|everything)(?:\s+(?:in|of|inside))?)?(?:\s+(.+))?$/i;
const LIST_TOO =
  /^(?:tree|(?:show|give|see|display)(?:\s+me)?(?:\s+(?:all|the))*\s+(?:files|folders|entries)(?:\s+(?:in|of|inside)\s+(.+))?)$/i;
const COUNT =
  /^(?:how many|count|number of)(?:\s+(?:all|the))*\s+(?:(?!lines|files)([\w+#]+)\s+)?(?:lines?|files?|loc)\b(.*)$/i;
const SIZE = /^how (?:big|large|long) is\s+(.+)$/i;
const LANGUAGES = /^(?:what|which)\s+(?:programming\s+)?languages?\b/i;
/** Behind "lines of", these name no language. */
const ANY_LANGUAGE = /^(?:code|source|text|the|this|it|all|everything|lines?|files?|many)$/i;
/** A path and nothing else. */
const BARE_PATH =
  /^(?:readme|license|[\w.@-]+(?:\/[\w.@-]+)+|[\w@-][\w.@-]*\.[a-z]\w{0,9})(?::\d.*)?$/i;
const THANKS =
  /^(?:(?:many\s+)?thanks|thank you|thx|cheers|great|cool|nice|perfect|awesome|wonderful|ok|okay|bye|goodbye|👍)\b.{0,40}$/iu;
const GREETING =
  /^(?:hi|hello|hey|good (?:morning|afternoon|evening))(?:\s+(?:there|guide|troupe|you|all|again))?[\s,.!?]*$/i;
const HELP =
  /^(?:help|\?|what can (?:you|i|be done)|who are you|what are you|how (?:do|can) (?:i|you)|commands?|hi|hello|hey)\b/i;
const CONTINUE =
  /^(?:continue|go on|carry on|keep going|resume|proceed|more|again|try again|retry)\b/i;

export function readIntent(said: string): Intent {
  const line = said.trim().split("\n")[0] ?? "";
  const intent = readLine(line);
  const righted = intent.kind === "unknown" ? withoutTypos(line.slice(0, REQUEST_MAX_CHARS)) : null;
  return righted === null ? intent : readLine(righted);
}

function readLine(said: string): Intent {
  const whole = said.trim().slice(0, REQUEST_MAX_CHARS);
  if (THANKS.test(whole) || whole === "👍") return { kind: "thanks" };
  if (GREETING.test(whole) || !/[\p{L}\p{N}]/u.test(whole)) return { kind: "help" };
  const text = whole
    .replace(POLITE, "")
    .replace(/[\s,]+(?:to me|for me)(?=[\s,.!?]|$)/i, "")
    .replace(/[\s,]+(?:please|pls|thanks|thank you)[.!?]*$/i, "");
  const asked = text.replace(/[?!\s]+$/, "").replace(/(?<=[^.\s])\.$/, "");
  if (asked === "" || HELP.test(text === "" ? whole : text)) return { kind: "help" };
  if (CONTINUE.test(asked)) return { kind: "continue" };
  return (
    readCount(asked) ??
    readOverview(asked) ??
    readSearch(asked) ??
    readList(asked) ??
    readRead(BARE_PATH.test(asked) ? `read ${asked}` : asked) ?? { kind: "unknown" }
  );
}

function readOverview(asked: string): Intent | null {
  for (const pattern of OVERVIEW) {
    const match = pattern.exec(asked);
    if (match === null) continue;
    const about = (match[1] ?? "").trim();
    if (HERE.test(about)) return { kind: "overview", path: "." };
    const path = unquote(about.replace(/^(?:in|of|about|inside|the|folder|directory)\s+/i, ""));
    return /\s/.test(path) ? null : { kind: "overview", path };
  }
  return null;
}

function readCount(asked: string): Intent | null {
  if (LANGUAGES.test(asked)) return { kind: "count", path: ".", language: null };
  const thing = SIZE.exec(asked)?.[1];
  if (thing !== undefined) return { kind: "count", path: pathOrHere(thing), language: null };
  const [isCount, before, rest = ""] = COUNT.exec(asked) ?? [];
  if (isCount === undefined) return null;
  const named = before ?? /\b(?:of|in)\s+([\w+#]+)(?=\s|$)/i.exec(rest)?.[1];
  const place =
    /\b(?:in|inside|under|within|does|do|has)\s+(.+?)(?:\s+(?:have|has|contain))?$/i.exec(rest);
  const path = pathOrHere(place?.[1] ?? "");
  const language = named === undefined || ANY_LANGUAGE.test(named) || named === path ? null : named;
  return { kind: "count", path, language };
}

const pathOrHere = (written: string): string => (HERE.test(written) ? "." : unquote(written));

function readSearch(asked: string): Intent | null {
  const rest = SEARCH.exec(asked)?.[1]
    ?.replace(/\s+(?:defined|declared|implemented|used|called|mentioned)$/i, "")
    .trim();
  // Files are found by what they hold; by their names they are listed.
  if (!rest || /^files?\s+(?:named|called|matching|ending)\b/i.test(rest)) return null;
  const quoted = /^(["'`“])(.+?)["'`”](?:\s+(?:in|inside|under|within)\s+(.+))?$/.exec(rest);
  if (quoted?.[2]) {
    const place = quoted[3];
    const path = place === undefined || HERE.test(place) ? null : unquote(place);
    return { kind: "search", text: quoted[2], path, whole: quoted[2] };
  }
  const inPlace = /^(.+?)\s+(?:in|inside|under|within)\s+(\S+|(?:this|the|all|my)\s+.+)$/i.exec(
    rest,
  );
  const [, text, place] = inPlace ?? [];
  if (text === undefined || place === undefined) {
    return { kind: "search", text: rest, path: null, whole: rest };
  }
  const isHere = HERE.test(place) || /^all\b/i.test(place);
  return { kind: "search", text: unquote(text), path: isHere ? null : unquote(place), whole: rest };
}

function readList(asked: string): Intent | null {
  const match = LIST.exec(asked) ?? LIST_TOO.exec(asked);
  return match && { kind: "list", path: pathOrHere((match[1] ?? "").trim()) };
}

function readRead(asked: string): Intent | null {
  const rest = READ.exec(asked)?.[1]?.trim();
  if (!rest) return null;
  const { path, startLine, maxLines } = readRange(rest);
  if (path === "") return null;
  if (HERE.test(path)) return { kind: "overview", path: "." };
  return {
    kind: "read",
    path,
    startLine,
    maxLines: maxLines && Math.min(2_000, Math.max(1, maxLines)),
  };
}

/** "a.ts lines 1-20", "a.ts:7", "lines 1 to 20 of a.ts", "the first 20 lines of a.ts". */
function readRange(rest: string): { path: string; startLine: number; maxLines: number | null } {
  const head = /^(?:the\s+)?first\s+(\d{1,9})\s+lines?\s+(?:of|in|from)\s+(.+)$/i.exec(rest);
  if (head) return { path: unquote(head[2] ?? ""), startLine: 1, maxLines: Number(head[1]) };
  const before =
    /^(?:the\s+)?lines?\s+(\d{1,9})(?:\s*(?:-|–|to)\s*(\d{1,9}))?\s+(?:of|in|from)\s+(.+)$/i.exec(
      rest,
    );
  if (before) {
    const startLine = Math.max(1, Number(before[1]));
    return {
      path: unquote(before[3] ?? ""),
      startLine,
      maxLines: Number(before[2] ?? startLine) - startLine + 1,
    };
  }
  const behind =
    /^(.*?)[\s,:]+(?:from\s+)?lines?\s+(\d{1,9})(?:\s*(?:-|–|to)\s*(\d{1,9}))?$/i.exec(rest) ??
    /^(.+?):(\d{1,9})(?:-(\d{1,9}))?$/.exec(rest);
  const startLine = Math.max(1, Number(behind?.[2] ?? 1));
  const maxLines = behind?.[3] === undefined ? null : Number(behind[3]) - startLine + 1;
  return { path: unquote(behind?.[1]?.trim() ?? rest), startLine, maxLines };
}

/** Inside quotes a space is meant. */
const unquote = (text: string): string => text.trim().replace(/^["'`“‘]+(.*?)["'`”’]+$/, "$1");
