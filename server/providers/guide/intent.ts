// What a person asks of the guide, read from plain English by rules. Forgiving about words around
// the request, not about what it does not know.

export type Intent =
  | { kind: "overview"; path: string }
  | { kind: "list"; path: string }
  /** `path` null: everywhere. `whole`: the text if what looked like a path was part of it. */
  | { kind: "search"; text: string; path: string | null; whole: string }
  | { kind: "read"; path: string; startLine: number; maxLines: number | null }
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
const HELP =
  /^(?:help|\?|what can (?:you|i|be done)|who are you|what are you|how (?:do|can) (?:i|you)|commands?|hi|hello|hey)\b/i;
const CONTINUE =
  /^(?:continue|go on|carry on|keep going|resume|proceed|more|again|try again|retry)\b/i;

export function readIntent(said: string): Intent {
  const text = (said.trim().split("\n")[0] ?? "")
    .slice(0, REQUEST_MAX_CHARS)
    .trim()
    .replace(POLITE, "")
    .replace(/[\s,]+(?:to me|for me)(?=[\s,.!?]|$)/i, "")
    .replace(/[\s,]+(?:please|pls|thanks|thank you)[.!?]*$/i, "");
  const asked = text.replace(/[?!\s]+$/, "").replace(/(?<=[^.\s])\.$/, "");
  if (asked === "" || HELP.test(text === "" ? said.trim() : text)) return { kind: "help" };
  if (CONTINUE.test(asked)) return { kind: "continue" };
  return (
    readOverview(asked) ??
    readSearch(asked) ??
    readList(asked) ??
    readRead(asked) ?? { kind: "unknown" }
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

function readSearch(asked: string): Intent | null {
  const rest = SEARCH.exec(asked)?.[1]?.trim();
  if (!rest) return null;
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
  const match = LIST.exec(asked);
  if (match === null) return null;
  const place = (match[1] ?? "").trim();
  return { kind: "list", path: HERE.test(place) ? "." : unquote(place) };
}

function readRead(asked: string): Intent | null {
  const rest = READ.exec(asked)?.[1]?.trim();
  if (!rest) return null;
  const range =
    /^(.*?)[\s,:]+(?:from\s+)?lines?\s+(\d{1,9})(?:\s*(?:-|–|to)\s*(\d{1,9}))?$/i.exec(rest) ??
    /^(.+?):(\d{1,9})(?:-(\d{1,9}))?$/.exec(rest);
  const path = unquote(range?.[1]?.trim() ?? rest);
  if (path === "") return null;
  if (HERE.test(path)) return { kind: "overview", path: "." };
  const startLine = Math.max(1, Number(range?.[2] ?? 1));
  const lastLine = range?.[3] === undefined ? null : Number(range[3]);
  const maxLines =
    lastLine === null ? null : Math.min(2_000, Math.max(1, lastLine - startLine + 1));
  return { kind: "read", path, startLine, maxLines };
}

const unquote = (text: string): string =>
  text
    .trim()
    .replace(/^["'`“‘]+(.*?)["'`”’]+$/, "$1")
    .trim();
