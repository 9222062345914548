// The rules on the shape of this repository, as pure functions over its files: each returns one line
// per offence. The test beside this runs them on the tree and proves that each of them can fail.

import { posix } from "node:path";

/** Path from the repository's root, with `/` → content. */
export type Tree = ReadonlyMap<string, string>;

export interface Import {
  readonly from: string;
  /** A path in the tree for relative imports, else the package's name as written. */
  readonly to: string;
  readonly isRelative: boolean;
  readonly isTypeOnly: boolean;
}

const LINES_MAX = 600;
const CODE = /\.(ts|tsx|mjs|js)$/;
const TEST = /\.(test|spec|contract)\.tsx?$|(^|\/)(testing|fixtures)\//;
const isTest = (path: string): boolean => TEST.test(path) || path.startsWith("e2e/");
const folderOf = (path: string): string => path.split("/")[0] ?? "";
const partOf = (path: string): string => path.split("/")[1] ?? "";

/** Matches strings first, so that a `//` inside one is no comment; group 1 is the string. */
const STRING_OR_COMMENT =
  /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

/** Comments go, strings stay. */
function withoutComments(code: string): string {
  return code.replace(STRING_OR_COMMENT, (_, text: string | undefined) => text ?? "");
}

const commentsOf = (code: string): string[] =>
  [...code.matchAll(STRING_OR_COMMENT)].flatMap(([all, text]) => (text === undefined ? [all] : []));

export function importsOf(path: string, code: string): Import[] {
  const statement =
    /\b(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+\sfrom\s*)?"([^"]+)"|\bimport\(\s*"([^"]+)"|\bnew URL\(\s*"([^"]+)",\s*import\.meta\.url/g;
  return [...withoutComments(code).matchAll(statement)].flatMap((match) => {
    const to = match[2] ?? match[3] ?? match[4] ?? "";
    const isRelative = /^\.\.?\//.test(to);
    if (match[4] !== undefined && (!isRelative || !CODE.test(to))) return [];
    const target = isRelative ? posix.join(posix.dirname(path), to.replace(/\?.*$/, "")) : to;
    return [{ from: path, to: target, isRelative, isTypeOnly: match[1] !== undefined }];
  });
}

function allImports(tree: Tree): Import[] {
  return [...tree].flatMap(([path, code]) => (CODE.test(path) ? importsOf(path, code) : []));
}

/** Which top-level folders may import which. */
const MAY_IMPORT: Readonly<Record<string, (to: string, from: string) => boolean>> = {
  shared: () => false,
  workers: (to) => folderOf(to) === "shared",
  web: (to) => folderOf(to) === "shared" || to === "workers/client.ts",
  server: (to) => folderOf(to) === "shared",
  // What e2e drives is the build; the simulation joins the two sides in one process.
  e2e: (to, from) =>
    ["shared", "dist"].includes(folderOf(to)) ||
    to.startsWith("server/testing/") ||
    (from.startsWith("e2e/simulation/") && ["server", "workers"].includes(folderOf(to))),
};

export function forbiddenImports(tree: Tree): string[] {
  return allImports(tree).flatMap((found) => {
    const reason = reasonAgainst(found);
    return reason === null ? [] : [`${found.from} imports ${found.to}: ${reason}`];
  });
}

function reasonAgainst(found: Import): string | null {
  const { from, to, isRelative } = found;
  const folder = folderOf(from);
  const rule = MAY_IMPORT[folder];
  if (rule === undefined) return null;
  if (!isRelative) {
    const isForNode = to.startsWith("node:") && folder !== "server" && folder !== "e2e";
    return isForNode && !isTest(from) ? `${folder} does not run in Node only` : null;
  }
  if (!/\.\w+$/.test(to)) return "write the extension";
  if (to === "package.json") return null;
  if (!isTest(from) && /(^|\/)testing\//.test(to)) return "only tests use testing/";
  if (folderOf(to) !== folder) return rule(to, from) ? null : `${folder} may not`;
  if (isTest(from)) return null;
  if (folder === "server") return serverReason(found);
  return folder === "web" ? webReason(found) : null;
}

const COMPOSITION = ["server/main.ts", "server/daemon.ts"];
/** Imports in the daemon go downwards. */
const LEVELS: Readonly<Record<string, number>> = {
  store: 0,
  tools: 0,
  providers: 0,
  context: 0,
  sessions: 1,
  feed: 1,
  permissions: 1,
  keystore: 1,
  methods: 2,
  transport: 3,
  bridges: 3,
  cli: 4,
};
/** Modules of types only, by which parts meet without knowing each other. */
const CONTRACTS = [
  "server/transport/connection.ts",
  "server/methods/caller.ts",
  "server/feed/live-sink.ts",
  "server/store/store.ts",
  "server/tools/tool.ts",
  "server/providers/provider.ts",
];

function serverReason({ from, to, isTypeOnly }: Import): string | null {
  const [part, target] = [partOf(from), partOf(to)];
  // Files right in server/ are the composition root and what every part may use.
  const [level, targetLevel] = [LEVELS[part], LEVELS[target]];
  if (part === target || COMPOSITION.includes(from)) return null;
  if (COMPOSITION.includes(to)) return "nothing imports the composition root";
  if (targetLevel === undefined) return null;
  if (isTypeOnly && CONTRACTS.includes(to)) return null;
  if (level === undefined) return "only the composition root wires the parts";
  if (targetLevel > level) return `${part} lies below ${target}`;
  if (level === 0) return `${part} and ${target} do not know each other`;
  return null;
}

function webReason({ from, to }: Import): string | null {
  const [part, target] = [partOf(from), partOf(to)];
  if (part === target) return null;
  if (part === "components" && target !== "styles") return "components get what they need as props";
  if (part === "state" && ["pages", "components"].includes(target)) return "state lies below pages";
  if (part === "service-worker") return "the service worker stands alone";
  return null;
}

/** Each cycle once, as the path around it. */
export function cycles(tree: Tree): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to, isRelative } of allImports(tree)) {
    if (isRelative && tree.has(to)) targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const trail: string[] = [];
  const found: string[] = [];
  const visit = (path: string): void => {
    const at = trail.indexOf(path);
    if (at >= 0) found.push([...trail.slice(at), path].join(" → "));
    if (at >= 0 || done.has(path)) return;
    trail.push(path);
    for (const target of targets.get(path) ?? []) visit(target);
    trail.pop();
    done.add(path);
  };
  for (const path of targets.keys()) visit(path);
  return found;
}

export function overlongFiles(tree: Tree): string[] {
  return [...tree].flatMap(([path, text]) => {
    const lines = text.split("\n").length - 1;
    const counts = (CODE.test(path) || path.endsWith(".css")) && !isTest(path);
    return counts && lines > LINES_MAX ? [`${path} has ${lines} lines`] : [];
  });
}

export function barrelFiles(tree: Tree): string[] {
  const reexport = /\bexport\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\})\s+from\s+"[^"]+";?/g;
  return [...tree].flatMap(([path, text]) => {
    if (!CODE.test(path)) return [];
    const code = withoutComments(text);
    return code.trim() !== "" && code.replace(reexport, "").trim() === ""
      ? [`${path} only re-exports: import the module that defines the thing`]
      : [];
  });
}

export function badNames(tree: Tree): string[] {
  const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*$/;
  return [...tree.keys()].flatMap((path) => {
    if (MAY_IMPORT[folderOf(path)] === undefined && folderOf(path) !== "scripts") return [];
    const names = path.split("/");
    const vague = names.slice(0, -1).find((name) => VAGUE_FOLDERS.includes(name));
    if (vague !== undefined) return [`${path}: a folder is named for what it holds, not ${vague}`];
    return names.every((name) => kebab.test(name)) ? [] : [`${path} is not kebab-case`];
  });
}
const VAGUE_FOLDERS = ["utils", "helpers", "common", "lib", "core"];

const TOP_LEVEL =
  /^((web|server|shared|workers|public|e2e|docs|scripts|\.ci)\/.+|package(-lock)?\.json|(vite|playwright)\.config\.ts|biome\.json|tsconfig\.base\.json|\.(gitignore|gitattributes|editorconfig|npmrc)|README\.md|CONTRIBUTING\.md|LICENSE)$/;

export function strayFiles(tree: Tree): string[] {
  return [...tree.keys()].flatMap((path) =>
    TOP_LEVEL.test(path) ? [] : [`${path} has no place at the top level`],
  );
}

const HTML_SINK =
  /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write(ln)?|srcdoc|setHTMLUnsafe|setHTML|createContextualFragment|DOMParser|dangerouslySetInnerHTML)\b/;
const HTML_DOOR = "web/components/safe-html.ts";

export function htmlSinks(tree: Tree): string[] {
  return [...tree].flatMap(([path, text]) => {
    const counts =
      ["web", "workers", "public"].includes(folderOf(path)) && /\.(tsx?|js|html)$/.test(path);
    const sink =
      counts && path !== HTML_DOOR && !isTest(path) && HTML_SINK.exec(withoutComments(text));
    return sink ? [`${path} uses ${sink[0]}: HTML enters the page through ${HTML_DOOR} only`] : [];
  });
}

/** Paths that the docs name and the tree does not have. `exists` knows folders as well as files. */
export function deadPaths(tree: Tree, exists: (path: string) => boolean): string[] {
  const named = /(?<![\w./-])(?:web|workers|server|shared|public|e2e|docs|scripts|\.ci)\/[\w./-]*/g;
  const link = /\]\((?!\w+:|#|\/)([^)#\s]+)/g;
  return [...tree].flatMap(([path, text]) => {
    if (!/^(docs\/.*|README|CONTRIBUTING)\.?\w*$/.test(path) || !path.endsWith(".md")) return [];
    const paths = [...text.matchAll(named)]
      // `server/tools/<name>.ts` and `docs/decisions/NNNN-what.md` are patterns, not paths.
      .filter((match) => !/^[<*{]/.test(text.slice(match.index + match[0].length)))
      .map((match) => match[0].replace(/[./-]+$/, ""))
      .filter((name) => !name.includes("NNNN"));
    const links = [...text.matchAll(link)].map((match) =>
      posix.join(posix.dirname(path), match[1] ?? ""),
    );
    return [...new Set([...paths, ...links])]
      .filter((name) => !exists(name))
      .map((name) => `${path} names ${name}, which does not exist`);
  });
}

/** Pages that comments send a reader to and the tree does not have. */
export function deadPages(tree: Tree): string[] {
  const page = /(?<![`\w./-])[\w./-]+\.md\b/g;
  return [...tree].flatMap(([path, text]) =>
    CODE.test(path)
      ? commentsOf(text)
          .flatMap((comment) => comment.match(page) ?? [])
          .filter((name) => !tree.has(name))
          .map((name) => `${path} refers to ${name}, which does not exist`)
      : [],
  );
}
