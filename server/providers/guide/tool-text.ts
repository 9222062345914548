// Reads what the tools answer back into facts. The forms are those of server/tools, which the guide,
// like any model, knows only as text.

export interface ListedEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link";
}

export function readListing(text: string): ListedEntry[] {
  return text
    .split("\n")
    .slice(2)
    .flatMap((line): ListedEntry[] => {
      if (line.startsWith("[cut:")) return [];
      // A file's line ends in its size, so an arrow before that is part of its name.
      const hasSize = / {2}(?:[\d.]+ (?:bytes?|[KMGT]iB)|special file|not readable)$/.test(line);
      if (line.includes(" -> ") && !hasSize) {
        return [{ name: line.slice(0, line.indexOf(" -> ")), kind: "link" }];
      }
      const name = line.slice(0, line.lastIndexOf("  "));
      if (name === "") return [];
      return name.endsWith("/")
        ? [{ name: name.slice(0, -1), kind: "folder" }]
        : [{ name, kind: "file" }];
    });
}

export interface Tally {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
}

export interface LineCounts {
  readonly allFiles: number;
  readonly lines: number;
  readonly textFiles: number;
  readonly otherFiles: number;
  readonly isWhole: boolean;
  readonly languages: readonly Tally[];
  readonly folders: readonly Tally[];
}

/** Null for what is no such answer. */
export function readLineCounts(text: string): LineCounts | null {
  const total =
    /^total: (\d+) files, (\d+) lines in (\d+) text files, (\d+) binary or unreadable$/m.exec(text);
  if (total === null) return null;
  const foldersAt = text.indexOf("\nfolders:\n");
  const languagesAt = text.indexOf("\nlanguages:\n");
  const languages = text.slice(
    languagesAt < 0 ? text.length : languagesAt,
    foldersAt < 0 ? undefined : foldersAt,
  );
  return {
    allFiles: Number(total[1]),
    lines: Number(total[2]),
    textFiles: Number(total[3]),
    otherFiles: Number(total[4]),
    isWhole: !text.includes("\n(Counting was given up"),
    languages: readTallies(languages),
    folders: foldersAt < 0 ? [] : readTallies(text.slice(foldersAt)),
  };
}

const readTallies = (section: string): Tally[] =>
  [...section.matchAll(/^ {2}(.+) {2}(\d+) files, (\d+) lines$/gm)].map((match) => ({
    name: match[1] ?? "",
    files: Number(match[2]),
    lines: Number(match[3]),
  }));

export interface ReadWindow {
  readonly path: string;
  readonly first: number;
  readonly last: number;
  /** As the tool says it: a number, or "more than" one. */
  readonly total: string;
  readonly lines: readonly string[];
  readonly continuesAt: number | null;
}

/** Null for what is no such answer. */
export function readFileWindow(text: string): ReadWindow | null {
  const header = /^path: (.*)\nlines: (\d+)(?:-(\d+))? of ((?:more than )?\d+)\n/.exec(text);
  if (header === null) return null;
  const lines = [...text.slice(header[0].length).matchAll(/^\d+ \| (.*)$/gm)].map(
    (match) => match[1] ?? "",
  );
  const cut = /\n\[cut: .* read on with start_line (\d+)\]$/.exec(text);
  return {
    path: header[1] ?? "",
    first: Number(header[2]),
    last: Number(header[3] ?? header[2]),
    total: header[4] ?? "",
    lines,
    continuesAt: cut === null ? null : Number(cut[1]),
  };
}

export interface SearchHit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface SearchAnswer {
  /** As the tool says it: "12 lines in 3 files", or null for nothing. */
  readonly matches: {
    readonly atLeast: boolean;
    readonly lines: number;
    readonly files: number;
  } | null;
  readonly filesSearched: number | null;
  readonly hits: readonly SearchHit[];
  /** As the tool says it: "1 line too long to show". */
  readonly leftOut: string | null;
}

export function readSearch(text: string): SearchAnswer {
  const counted = /^matches: (at least )?(\d+) lines in (?:at least )?(\d+) files$/m.exec(text);
  const searched = /^files searched: (\d+)$/m.exec(text);
  const hits: SearchHit[] = [];
  let path = "";
  for (const line of text.split("\n").slice(1)) {
    const hit = /^ {2}(\d+): (.*)$/.exec(line);
    if (hit) hits.push({ path, line: Number(hit[1]), text: hit[2] ?? "" });
    else if (!line.startsWith("  ")) path = line;
  }
  return {
    matches: counted && {
      atLeast: counted[1] !== undefined,
      lines: Number(counted[2]),
      files: Number(counted[3]),
    },
    filesSearched: searched ? Number(searched[1]) : null,
    leftOut: /^\[left out: (.*)\]$/m.exec(text)?.[1] ?? null,
    hits,
  };
}
