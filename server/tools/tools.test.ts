import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { READ_WINDOW_MAX_LINES, TOOL_OUTPUT_MAX_BYTES } from "../../shared/limits.ts";
import { makeFolderOf, runTool } from "../testing/tool-bench.ts";
import { checkArguments, toolSchemas } from "./arguments.ts";
import { grep } from "./grep.ts";
import { tools } from "./index.ts";
import { lineCount } from "./line-count.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";

describe("the list of tools", () => {
  test("has a schema for each that a model can read", () => {
    const schemas = toolSchemas(tools);
    expect(schemas.map((schema) => schema.name)).toEqual([
      "list_files",
      "read_file",
      "grep",
      "line_count",
    ]);
    for (const { parameters } of schemas) {
      expect(parameters).toMatchObject({ type: "object", additionalProperties: false });
      expect(JSON.stringify(parameters)).not.toContain("$schema");
    }
    expect(schemas[1]?.parameters).toMatchObject({ required: ["path"] });
  });

  test("takes no arguments for none, and names the field of bad ones", () => {
    expect(checkArguments(listFiles, "")).toEqual({ ok: true, args: { path: "." } });
    expect(checkArguments(readFile, '{"path":"x","max_lines":9000}')).toEqual({
      ok: false,
      message:
        "The arguments of read_file are not as its schema says. max_lines: must be at most 2000",
    });
  });
});

describe("every tool with a path", () => {
  test("stays in the working folder, links resolved", async () => {
    const outside = await makeFolderOf({ "secret.txt": "secret" });
    const folder = await makeFolderOf({ "in.txt": "in" });
    await symlink(join(outside, "secret.txt"), join(folder, "link"));
    await symlink(outside, join(folder, "away"));
    await symlink(join(folder, "in.txt"), join(folder, "inner"));
    for (const path of [
      "..",
      "../x",
      outside,
      join(outside, "secret.txt"),
      "link",
      "away",
      "away/secret.txt",
    ]) {
      for (const tool of [readFile, listFiles, lineCount]) {
        const output = await runTool(tool, folder, { path });
        expect(output.isError, path).toBe(true);
        expect(output.text).not.toContain("1 | secret");
      }
      expect((await runTool(grep, folder, { pattern: "secret", path })).isError, path).toBe(true);
    }
    expect((await runTool(readFile, folder, { path: "link" })).text).toContain(
      "outside the working folder",
    );
    expect((await runTool(readFile, folder, { path: "inner" })).text).toContain("1 | in");
    expect((await runTool(readFile, folder, { path: join(folder, "in.txt") })).isError).toBe(false);
    expect((await runTool(readFile, folder, { path: "no\0" })).isError).toBe(true);
    expect((await runTool(readFile, folder, { path: "gone" })).text).toContain(
      "There is no `gone`",
    );
  });
});

describe("what is in a folder and no file", () => {
  test("is refused by name, never read, and counted on its own", async () => {
    const folder = await makeFolderOf({ "a.txt": "needle\n" });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    for (const tool of [readFile, lineCount]) {
      expect(await runTool(tool, folder, { path: "pipe" }), tool.name).toMatchObject({
        isError: true,
      });
    }
    expect(await runTool(grep, folder, { pattern: "x", path: "pipe" })).toMatchObject({
      isError: true,
      text: "`pipe` is not a regular file.",
    });
    expect((await runTool(grep, folder, { pattern: "needle" })).text).toContain("in 1 files");
    expect((await runTool(listFiles, folder)).text).toContain(
      "entries: 2 (0 folders, 1 file, 0 links, 1 other; files 7 bytes)",
    );
  });
});

describe("read_file", () => {
  test("shows lines with numbers under a header with the total", async () => {
    const folder = await makeFolderOf({ "src/a.ts": "one\ntwo\n\nfour" });
    expect(await runTool(readFile, folder, { path: "src/a.ts" })).toEqual({
      text: "path: src/a.ts\nlines: 1-4 of 4\n1 | one\n2 | two\n3 | \n4 | four",
      isError: false,
      description: "Read `src/a.ts` lines 1–4",
    });
    expect(
      await runTool(readFile, folder, { path: "src/a.ts", start_line: 2, max_lines: 1 }),
    ).toEqual({
      text: "path: src/a.ts\nlines: 2-2 of 4\n2 | two\n[cut: lines 2-2 of 4 shown; read on with start_line 3]",
      isError: false,
      description: "Read `src/a.ts` line 2",
    });
  });

  test("reads BOM and CRLF away and says what is no text", async () => {
    const folder = await makeFolderOf({
      "bom.txt": "\ufeffone\r\ntwo\r\n",
      binary: new Uint8Array([1, 2, 0, 3]),
      "latin.txt": new Uint8Array([0x63, 0x61, 0x66, 0xe9]),
      empty: "",
      "escape.txt": "a\u001b[31mb\u202ec",
    });
    const textOf = async (path: string) => (await runTool(readFile, folder, { path })).text;
    expect(await textOf("bom.txt")).toBe("path: bom.txt\nlines: 1-2 of 2\n1 | one\n2 | two");
    expect(await textOf("binary")).toContain("is a binary file (4 bytes)");
    expect(await textOf("latin.txt")).toContain("is not UTF-8");
    expect(await textOf("empty")).toContain("lines: 0 of 0");
    expect(await textOf("escape.txt")).toContain("1 | ab\\u{202e}c");
    expect(await textOf(".")).toContain("is a folder");
  });

  test("says that a start is past the end", async () => {
    const folder = await makeFolderOf({ a: "one\n" });
    const output = await runTool(readFile, folder, { path: "a", start_line: 5 });
    expect(output).toMatchObject({
      isError: true,
      text: "start_line 5 is past the end: `a` has 1 lines.",
    });
  });

  test("cuts at the window, at the limit of its output and in endless lines, and says so", async () => {
    const folder = await makeFolderOf({
      many: "x\n".repeat(5_000),
      wide: `${"y".repeat(400)}\n`.repeat(1_000),
      endless: "é".repeat(1_000_000),
    });
    const many = await runTool(readFile, folder, { path: "many" });
    expect(many.text).toContain(`lines: 1-${READ_WINDOW_MAX_LINES} of 5000`);
    expect(many.text).toMatch(/\[cut: lines 1-2000 of 5000 shown; read on with start_line 2001\]$/);
    const wide = await runTool(readFile, folder, { path: "wide" });
    expect(Buffer.byteLength(wide.text)).toBeLessThanOrEqual(TOOL_OUTPUT_MAX_BYTES);
    const next = Number(/start_line (\d+)\]$/.exec(wide.text)?.[1]);
    expect(next).toBeGreaterThan(200);
    expect((await runTool(readFile, folder, { path: "wide", start_line: next })).text).toContain(
      `${next} | yyy`,
    );
    const endless = await runTool(readFile, folder, { path: "endless" });
    expect(endless.text).toMatch(/é \[line cut: 2000000 bytes in all\]$/);
    expect(endless.text).toContain("lines: 1-1 of 1");
  });
});

describe("list_files", () => {
  test("lists what is there, sorted, with sizes and totals", async () => {
    const folder = await makeFolderOf({ "b.txt": "12345", "a/x": "", "a/y": "", ".hidden": "1" });
    await symlink("b.txt", join(folder, "c"));
    expect(await runTool(listFiles, folder)).toEqual({
      text: [
        "path: .",
        "entries: 4 (1 folder, 2 files, 1 link; files 6 bytes)",
        ".hidden  1 byte",
        "a/  2 entries",
        "b.txt  5 bytes",
        "c -> b.txt",
      ].join("\n"),
      isError: false,
      note: "4 entries",
    });
    expect((await runTool(listFiles, folder, { path: "b.txt" })).text).toContain("is a file");
  });

  test("stays within its limits in a huge folder, and says so", async () => {
    const folder = await makeFolderOf({});
    await mkdir(join(folder, "big"));
    await Promise.all(
      Array.from({ length: 2_500 }, (_, n) =>
        writeFile(join(folder, "big", `${n}-${"n".repeat(150)}`), ""),
      ),
    );
    const output = await runTool(listFiles, folder, { path: "big" });
    expect(output.text).toContain("entries: 2500");
    expect(output.text).toMatch(/\[cut: \d+ of 2500 entries shown/);
    expect(Buffer.byteLength(output.text)).toBeLessThanOrEqual(TOOL_OUTPUT_MAX_BYTES);
  });
});

const PROJECT = {
  ".gitignore": "ignored/\n*.log\n",
  "README.md": "# Title\n\nText.\n",
  "src/a.ts": "const upload = 1;\nupload;\n",
  "src/b.ts": "no newline at the end",
  "src/deep/c.py": "upload\n",
  "src/empty.rs": "",
  "ignored/d.ts": "upload\n",
  "e.log": "upload\n",
  "image.png": new Uint8Array([137, 80, 0, 10, 10, 10]),
  ".github/ci.yml": "on: push\n",
};

describe("line_count", () => {
  test("counts files and lines by language and folder, leaving out ignored ones", async () => {
    const folder = await makeFolderOf(PROJECT);
    const output = await runTool(lineCount, folder);
    expect(output.text.split("\n")).toEqual([
      "path: .",
      "total: 8 files, 10 lines in 7 text files, 1 binary or unreadable",
      "languages:",
      "  TypeScript  2 files, 3 lines",
      "  Markdown  1 files, 3 lines",
      "  Other text  1 files, 2 lines",
      "  Python  1 files, 1 lines",
      "  YAML  1 files, 1 lines",
      "  Rust  1 files, 0 lines",
      "folders:",
      "  src/  4 files, 4 lines",
      "  .github/  1 files, 1 lines",
    ]);
    expect(output).toMatchObject({
      description: "Counted 10 lines in 7 text files",
      note: "8 files",
      isError: false,
    });
  });

  test("counts one file, even an ignored one, and says what is no text", async () => {
    const folder = await makeFolderOf(PROJECT);
    const count = (path: string) => runTool(lineCount, folder, { path });
    expect(await count("src/b.ts")).toMatchObject({ text: "1", note: "1 line" });
    expect(await count("e.log")).toMatchObject({ text: "1" });
    expect(await count("src/empty.rs")).toMatchObject({ text: "0" });
    expect(await count("image.png")).toMatchObject({ isError: true });
  });

  test("ends at once when stopped", async () => {
    const folder = await makeFolderOf(PROJECT);
    const output = await runTool(lineCount, folder, {}, AbortSignal.abort());
    expect(output).toMatchObject({ isError: true, text: "Counting was stopped." });
  });
});

describe("grep", () => {
  test("shows matching lines by file in the order of paths, with totals", async () => {
    const folder = await makeFolderOf(PROJECT);
    expect(await runTool(grep, folder, { pattern: "upload" })).toEqual({
      text: [
        "matches: 3 lines in 2 files",
        "src/a.ts",
        "  1: const upload = 1;",
        "  2: upload;",
        "src/deep/c.py",
        "  1: upload",
        "files searched: 8",
      ].join("\n"),
      isError: false,
      description: "Searched `upload` in 8 files",
      note: "3 lines",
    });
  });

  test("can be narrowed to a folder, a file and a glob, and gives paths or counts", async () => {
    const folder = await makeFolderOf(PROJECT);
    const lines = async (args: Record<string, unknown>) =>
      (await runTool(grep, folder, { pattern: "upload", ...args })).text.split("\n").slice(1, -1);
    expect(await lines({ path: "src/deep" })).toEqual(["src/deep/c.py", "  1: upload"]);
    expect(await lines({ path: "src/a.ts", max_results: 1 })).toEqual([
      "src/a.ts",
      "  1: const upload = 1;",
      "[cut: 1 of 2 matching lines shown; narrow the pattern, path or include, or raise max_results (200 at most)]",
    ]);
    expect(await lines({ include: "*.py", output_mode: "files_with_matches" })).toEqual([
      "src/deep/c.py",
    ]);
    expect(await lines({ output_mode: "count" })).toEqual(["src/a.ts: 2", "src/deep/c.py: 1"]);
    expect(await lines({ pattern: "UPLOAD;", ignore_case: true, context: 1 })).toEqual([
      "src/a.ts",
      "  1- const upload = 1;",
      "  2: upload;",
    ]);
  });

  test("takes a pattern literally when told to, and hints when that finds nothing", async () => {
    const folder = await makeFolderOf({ a: "f(x)\n--files\n" });
    const text = async (args: Record<string, unknown>) => (await runTool(grep, folder, args)).text;
    expect(await text({ pattern: "f(x", regex: false })).toContain("1: f(x)");
    expect(await text({ pattern: "--files", regex: false })).toContain("2: --files");
    expect(await text({ pattern: "f.x", regex: false })).toMatch(
      /^No matches found\.\n\(The pattern was/,
    );
    expect(await runTool(grep, folder, { pattern: "f(x" })).toMatchObject({ isError: true });
    expect(await text({ pattern: "f(x" })).toContain("regex parse error");
  });

  test("cuts long lines around the match and stays within its limit", async () => {
    const long = `${"a".repeat(100_000)}needle${"b".repeat(100_000)}\n`;
    const folder = await makeFolderOf({ "min.js": long.repeat(300) });
    const output = await runTool(grep, folder, { pattern: "needle", max_results: 200 });
    expect(output.text).toContain("needle");
    expect(output.text).toContain("[line cut: 200006 characters in all]");
    expect(output.text).toContain("matches: 300 lines in 1 files");
    expect(Buffer.byteLength(output.text)).toBeLessThanOrEqual(TOOL_OUTPUT_MAX_BYTES);
  });

  test("says that it left out lines whose matches no answer could hold", async () => {
    const folder = await makeFolderOf({ "min.js": `needle${"a".repeat(5 * 1024 * 1024)}\n` });
    const output = await runTool(grep, folder, { pattern: "needle" });
    expect(output.text).toMatch(/^No matches found in lines short enough to show\./);
    expect(output.text).toContain("[left out: 1 line too long to show]");
  });

  test("gives up after very many matches and says at least how many", async () => {
    const folder = await makeFolderOf({ a: "x\n".repeat(30_000) });
    const output = await runTool(grep, folder, { pattern: "x" });
    expect(output.text).toContain("matches: at least 20000 lines");
    expect(output.text).toContain(
      "[the search was given up after 20000 matching lines; narrow it]",
    );
  });

  test("says that files could not be read", async () => {
    const folder = await makeFolderOf({ open: "x\n", shut: "x\n" });
    await chmod(join(folder, "shut"), 0o000);
    const output = await runTool(grep, folder, { pattern: "x" });
    // The superuser reads everything.
    if (process.getuid?.() === 0) expect(output.text).toContain("in 2 files");
    else expect(output.text).toContain("[some files could not be read]");
  });
});
