// A real git repository with known figures, for the sessions of the browser tests to work on.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface ProjectFolder {
  readonly path: string;
  dispose(): void;
}

const lines = (count: number, line: (number: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index + 1)}\n`).join("");

/** Long enough to stream for a while. */
const LONG_FILE_LINES = 1_500;
const longFileLine = (number: number): string =>
  `Line ${number} of the long file, which is here to be read aloud.`;
export const ALL_LONG_LINES: readonly string[] = Array.from(
  { length: LONG_FILE_LINES },
  (_, index) => longFileLine(index + 1),
);

const FILES: Readonly<Record<string, string>> = {
  "README.md":
    "# Kiosk\n\nA small shop that sells newspapers and keeps count of them.\n\n## Use\n\nRun `npm start`.\n",
  "package.json": `${JSON.stringify(
    { name: "kiosk", version: "1.2.3", scripts: { start: "node src/shop.ts", test: "vitest" } },
    null,
    2,
  )}\n`,
  "src/shop.ts": lines(40, (number) => `export const shelf${number} = ${number};`),
  "src/till.ts": lines(25, (number) => `export const coin${number} = ${number}; // TODO count`),
  "src/paper.ts": lines(10, (number) => `export const page${number} = "${number}";`),
  "tools/count.py": lines(15, (number) => `value_${number} = ${number}`),
  "LONG.md": lines(LONG_FILE_LINES, longFileLine),
  ".gitignore": "dist/\n",
  "dist/ignored.ts": lines(500, () => "export {};"),
};

/** Without what .gitignore names. */
export const FILE_COUNT = Object.keys(FILES).filter((name) => !name.startsWith("dist/")).length;

/** What a right answer about the folder says: language → files and lines. */
export const EXPECTED_COUNTS = {
  TypeScript: { files: 3, lines: 75 },
  Python: { files: 1, lines: 15 },
} as const;

export function makeProjectFolder(): ProjectFolder {
  const path = mkdtempSync(join(tmpdir(), "troupe-project-"));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  const git = (...args: string[]): void => {
    execFileSync("git", [
      "-C",
      path,
      "-c",
      "user.name=Ada",
      "-c",
      "user.email=ada@example.org",
      ...args,
    ]);
  };
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "--message=Open the shop");
  return { path, dispose: () => rmSync(path, { recursive: true, force: true }) };
}
