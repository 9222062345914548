import { describe, expect, test } from "vitest";
import { makeFakeClock } from "../../testing/fake-clock.ts";
import { makeFolderOf, runTool } from "../../testing/tool-bench.ts";
import { toolSchemas } from "../../tools/arguments.ts";
import { tools } from "../../tools/index.ts";
import type { ModelCall, ModelEvent, ModelMessage } from "../provider.ts";
import { makeGuide } from "./guide.ts";
import { type Intent, readIntent } from "./intent.ts";
import { codeBlock, inlineCode } from "./markdown.ts";
import { piecesOf } from "./pace.ts";

describe("what is asked", () => {
  const overview = (path = "."): Intent => ({ kind: "overview", path });
  const search = (text: string, path: string | null = null, whole = text): Intent => ({
    kind: "search",
    text,
    path,
    whole,
  });
  const read = (path: string, startLine = 1, maxLines: number | null = null): Intent => ({
    kind: "read",
    path,
    startLine,
    maxLines,
  });
  const count = (path = ".", language: string | null = null): Intent => ({
    kind: "count",
    path,
    language,
  });
  test.each<[string, Intent]>([
    ["What is in this folder?", overview()],
    ["what's in here", overview()],
    ["What is this?", overview()],
    ["what is this project about?", overview()],
    ["What does this project do?", overview()],
    ["Explain this project", overview()],
    ["please explain the project to me", overview()],
    ["Can you describe this repository?", overview()],
    ["overview", overview()],
    ["Give me an overview of this codebase, please", overview()],
    ["Tell me about this repo.", overview()],
    ["show me what is in this folder", overview()],
    ["what files are in src", overview("src")],
    ["What is in `server/tools`?", overview("server/tools")],
    ["Find TODO", search("TODO")],
    ["search for upload handler", search("upload handler")],
    ["grep createServer", search("createServer")],
    ['Search "in the end" in src', search("in the end", "src")],
    ["find upload in src/http", search("upload", "src/http", "upload in src/http")],
    ["find TODO in this folder", search("TODO", null, "TODO in this folder")],
    ["Where is parsePage?", search("parsePage")],
    ["look for FIXME", search("FIXME")],
    ["Read README.md", read("README.md")],
    ["show me the file src/a.ts", read("src/a.ts")],
    ["open `src/main.ts`.", read("src/main.ts")],
    ["Show src/main.ts from line 100", read("src/main.ts", 100)],
    ["read a.ts lines 10-20", read("a.ts", 10, 11)],
    ["cat a.ts:7", read("a.ts", 7)],
    ["list src", { kind: "list", path: "src" }],
    ["List the files", { kind: "list", path: "." }],
    ["what is here?", overview()],
    ["Read file “ odd name.md”", read(" odd name.md")],
    ["show lines 10-20 of src/a.ts", read("src/a.ts", 10, 11)],
    ["show line 5 of package.json", read("package.json", 5, 1)],
    ["show me the first 20 lines of a.ts", read("a.ts", 1, 20)],
    ["README.md", read("README.md")],
    ["server/main.ts:7", read("server/main.ts", 7)],
    ["readme", read("readme")],
    ["where is parsePage defined?", search("parsePage")],
    ["show me all files", { kind: "list", path: "." }],
    ["show files in src", { kind: "list", path: "src" }],
    ["tree", { kind: "list", path: "." }],
    ["How many lines of code?", count()],
    ["how many files are there?", count()],
    ["How many lines of TypeScript", count(".", "TypeScript")],
    ["how many typescript files are there in src?", count("src", "typescript")],
    ["count lines of python in tools", count("tools", "python")],
    ["count the files in server", count("server")],
    ["how many lines does src/a.ts have?", count("src/a.ts")],
    ["How big is this project?", count()],
    ["Which languages does it use?", count()],
    ["serach for foo", search("foo")],
    ["explian this project", overview()],
    ["what si in this folder", overview()],
    ["sumarize this repo", overview()],
    ["thanks", { kind: "thanks" }],
    ["Thank you!", { kind: "thanks" }],
    ["ok", { kind: "thanks" }],
    ["👍", { kind: "thanks" }],
    ["hello there", { kind: "help" }],
    [".", { kind: "help" }],
    ["Was ist in diesem Ordner?", { kind: "unknown" }],
    ["find files named *.css", { kind: "unknown" }],
    ["fix the bug", { kind: "unknown" }],
    ["delete everything", { kind: "unknown" }],
    ["help", { kind: "help" }],
    ["What can you do?", { kind: "help" }],
    ["hello", { kind: "help" }],
    ["Continue from where you stopped.", { kind: "continue" }],
    ["Write me a poem about sockets", { kind: "unknown" }],
    ["Why is the sky blue?", { kind: "unknown" }],
  ])("%j is understood", (said, intent) => {
    expect(readIntent(said)).toEqual(intent);
  });
});

/** Talks to the guide with the real tools until it answers without calls. */
async function ask(folder: string, said: string, earlier: readonly ModelMessage[] = []) {
  const clock = makeFakeClock();
  const guide = makeGuide(clock);
  const messages: ModelMessage[] = [...earlier, { role: "user", text: said }];
  const called: string[] = [];
  for (let turn = 1; turn < 10; turn++) {
    const events: ModelEvent[] = [];
    const stream = guide.stream(
      { model: "guide", system: "", messages, tools: toolSchemas(tools) },
      new AbortController().signal,
    );
    let isDone = false;
    const reading = (async () => {
      for await (const event of stream) events.push(event);
      isDone = true;
    })();
    while (!isDone) await clock.advance(10);
    await reading;
    const text = events.flatMap((event) => (event.type === "answer" ? [event.text] : [])).join("");
    const calls = events.flatMap((event): ModelCall[] =>
      event.type === "call" ? [event.call] : [],
    );
    messages.push({ role: "assistant", text, calls });
    if (calls.length === 0) return { text, called, messages, turns: turn };
    for (const call of calls) {
      called.push(`${call.name} ${call.arguments}`);
      const tool = tools.find((each) => each.name === call.name);
      if (!tool) throw new Error(`no tool ${call.name}`);
      const output = await runTool(tool, folder, JSON.parse(call.arguments));
      messages.push({
        role: "tool",
        callId: call.callId,
        name: call.name,
        text: output.text,
        isError: output.isError,
      });
    }
  }
  throw new Error("the guide never came to an end");
}

const PROJECT = {
  "README.md":
    "# Widget\n\n[![badge](https://x/y.svg)](https://x)\n\nWidget turns *things* into\nother things, quickly.\n\n## Use\n",
  "package.json": JSON.stringify({
    name: "widget",
    version: "1.2.3",
    scripts: { build: "x", test: "y" },
    dependencies: { a: "1" },
  }),
  ".gitignore": "node_modules/\n",
  "node_modules/x/index.js": "x\n",
  "src/a.ts": "const a = 1; // TODO one\nexport { a };\n",
  "src/b.ts": "// todo two\n",
  "docs/guide.md": "Text with ``` inside\n",
};

describe("the guide", () => {
  test("looks at a folder with its tools and tells the right figures", async () => {
    const folder = await makeFolderOf(PROJECT);
    const { text, called, turns } = await ask(folder, "What is in this folder?");
    expect(turns).toBe(3);
    expect(called).toEqual([
      'list_files {"path":"."}',
      'line_count {"path":"."}',
      'read_file {"path":"README.md","max_lines":200}',
      'read_file {"path":"package.json"}',
    ]);
    expect(text).toBe(
      [
        "`README.md` says:\n\n> Widget turns *things* into other things, quickly.",
        "The folder holds **6 files** in all, what ignore files name left out: **14 lines** in 6 text files.",
        [
          "| Language | Files | Lines |",
          "| --- | ---: | ---: |",
          "| Markdown | 2 | 9 |",
          "| TypeScript | 2 | 3 |",
          "| JSON | 1 | 1 |",
          "| Other text | 1 | 1 |",
          "| **All** | 6 | 14 |",
        ].join("\n"),
        "`package.json` names the package `widget`, version `1.2.3`, with 1 dependency and 0 for development. 2 scripts: `build`, `test`.",
        "Folders, the largest first:\n\n- `src/`: 2 text files, 3 lines\n- `docs/`: 1 text file, 1 line",
        "Not counted, being ignored, empty or without text: `node_modules/`.",
      ].join("\n\n"),
    );
  });

  test("tells of a folder further down, of an empty one, and of one that is not there", async () => {
    const folder = await makeFolderOf({ ...PROJECT, "empty/x/.gitkeep": "" });
    expect((await ask(folder, "what is in src?")).text).toContain("`src` holds **2 files**");
    expect((await ask(await makeFolderOf({}), "overview")).text).toContain(
      "The folder holds no files",
    );
    expect((await ask(folder, "what is in lib?")).text).toContain("There is no `lib`");
  });

  test("searches, in any case if all is written small, and counts what it does not show", async () => {
    const folder = await makeFolderOf(PROJECT);
    const { text } = await ask(folder, "Find todo");
    expect(text).toContain("`todo` is on **2 lines** in **2 files**, of 6 files searched.");
    expect(text).toContain("- `src/a.ts:1` `const a = 1; // TODO one`");
    expect((await ask(folder, "find TODO in src")).text).toContain(
      "**1 line** in **1 file**, of 2 files",
    );
    expect((await ask(folder, "find nothing like this")).text).toContain("Nothing contains");
    const many = await makeFolderOf({ a: "hit\n".repeat(75) });
    expect((await ask(many, "find hit")).text).toContain("55 more are not shown here.");
  });

  test("takes a place that is not there as part of the text", async () => {
    const folder = await makeFolderOf({ a: "time in seconds\n" });
    const { text, called } = await ask(folder, "find time in seconds");
    expect(called).toHaveLength(2);
    expect(text).toContain("`time in seconds` is on **1 line**");
  });

  test("shows a file in a fence wider than any inside, and where to read on", async () => {
    const folder = await makeFolderOf({ ...PROJECT, "long.txt": "line\n".repeat(2_500) });
    const { text } = await ask(folder, "read docs/guide.md");
    expect(text).toContain("`docs/guide.md`, line 1 of 1:\n\n````md\nText with ``` inside\n````");
    expect((await ask(folder, "show long.txt")).text).toContain("`read long.txt from line 2001`");
    expect((await ask(folder, "read nothing.txt")).text).toContain("There is no `nothing.txt`");
    expect((await ask(folder, "show src")).text).toContain("- `a.ts`\n- `b.ts`");
  });

  test("finds the file that is meant when case or ending are missing, if it is one only", async () => {
    const folder = await makeFolderOf({ ...PROJECT, "docs/a.md": "1", "docs/a.txt": "2" });
    const readme = await ask(folder, "show me the readme");
    expect(readme.called).toEqual([
      'read_file {"path":"readme"}',
      'list_files {"path":"."}',
      'read_file {"path":"README.md"}',
    ]);
    expect(readme.text).toContain("`README.md`, lines 1–");
    expect((await ask(folder, "read docs/GUIDE.md")).text).toContain("`docs/guide.md`, line 1");
    const { text } = await ask(folder, "read docs/a");
    expect(text).toContain("There is no `docs/a` in the working folder.");
    expect(text).not.toContain("list_files");
  });

  test("shows a file when asked what it is", async () => {
    const folder = await makeFolderOf(PROJECT);
    const { text } = await ask(folder, "what is in docs/guide.md?");
    expect(text).toContain("`docs/guide.md`, line 1 of 1:");
  });

  test("counts lines and files, of one language or of all", async () => {
    const folder = await makeFolderOf(PROJECT);
    expect((await ask(folder, "how many lines of ts?")).text).toMatch(
      /^\*\*3 lines\*\* of TypeScript in \*\*2\*\* files\.\n\nThe folder holds \*\*6 files\*\*/,
    );
    expect((await ask(folder, "how many lines of cobol")).text).toMatch(/^There is no `cobol`/);
    expect((await ask(folder, "how many files are in src?")).text).toMatch(
      /^`src` holds \*\*2 files\*\*/,
    );
    expect((await ask(folder, "count the lines in src/a.ts")).text).toMatch(
      /^`src\/a.ts` has \*\*\d+ lines?\*\*\.$/,
    );
    expect((await ask(folder, "how many lines in lib?")).text).toContain("There is no `lib`");
  });

  test("says so when a search left out lines, or may not go where it was told", async () => {
    const folder = await makeFolderOf({ "min.js": `needle${"a".repeat(5 * 1024 * 1024)}\n` });
    expect((await ask(folder, "find needle")).text).toMatch(
      /Nothing contains `needle`.*\n\nNot looked at: 1 line too long to show\.$/s,
    );
    const outside = await ask(folder, "find root in /etc");
    expect(outside.called).toHaveLength(1);
    expect(outside.text).toContain("lies outside the working folder");
  });

  test("lists a name with an arrow in it as what it is", async () => {
    const folder = await makeFolderOf({ "a -> b.txt": "1" });
    expect((await ask(folder, "ls")).text).toBe(
      "The folder holds 1 entry (0 folders, 1 file, 0 links; files 1 byte):\n\n- `a -> b.txt`",
    );
  });

  test("is honest about what it is, and says so again when it does not understand", async () => {
    const folder = await makeFolderOf({});
    expect((await ask(folder, "help")).text).toContain("I follow rules");
    const unknown = await ask(folder, "Write me a poem");
    expect(unknown.text).toContain("I did not understand that. I am rule-based");
    expect(unknown.turns).toBe(1);
  });

  test("takes the last request it understood up again when told to continue", async () => {
    const folder = await makeFolderOf(PROJECT);
    const earlier: ModelMessage[] = [
      { role: "user", text: "Find TODO" },
      { role: "assistant", text: "Sear", calls: [] },
    ];
    const { text } = await ask(folder, "Continue from where you stopped.", earlier);
    expect(text).toContain("`TODO` is on **1 line**");
    expect((await ask(folder, "continue")).text).toContain("no earlier request");
  });

  test("says what it lacks when a session has no tools", async () => {
    const clock = makeFakeClock();
    const messages: ModelMessage[] = [{ role: "user", text: "What is in this folder?" }];
    const stream = makeGuide(clock).stream(
      { model: "guide", system: "", messages, tools: [] },
      new AbortController().signal,
    );
    const events: ModelEvent[] = [];
    let isDone = false;
    const reading = (async () => {
      for await (const event of stream) events.push(event);
      isDone = true;
    })();
    while (!isDone) await clock.advance(10);
    await reading;
    expect(events.at(-1)).toEqual({ type: "done", reason: "stop" });
  });

  test("ends soon without another word when stopped", async () => {
    const clock = makeFakeClock();
    const abort = new AbortController();
    const stream = makeGuide(clock)
      .stream(
        { model: "guide", system: "", messages: [{ role: "user", text: "help" }], tools: [] },
        abort.signal,
      )
      [Symbol.asyncIterator]();
    const first = stream.next();
    await clock.advance(10);
    expect((await first).value).toEqual({ type: "answer", text: "I am " });
    const second = stream.next();
    abort.abort();
    expect((await second).done).toBe(true);
    expect(clock.pending).toBe(0);
  });
});

describe("pieces of a text", () => {
  test.each([
    ["short words here", 3],
    ["", 0],
    ["w ".repeat(100_000), 250],
    ["x".repeat(100_000), 251],
    [`${"😀".repeat(10_000)}`, 251],
  ])("lose nothing and are not many", (text, most) => {
    const pieces = piecesOf(text);
    expect(pieces.join("")).toBe(text);
    expect(pieces.length).toBeLessThanOrEqual(most);
    for (const piece of pieces) expect(piece).not.toMatch(/\p{Cs}/u);
  });
});

describe("Markdown from elsewhere", () => {
  test("cannot leave its span or fence", () => {
    expect(inlineCode("a`b")).toBe("``a`b``");
    expect(inlineCode("`a`")).toBe("`` `a` ``");
    expect(codeBlock("````\nx", "md")).toBe("`````md\n````\nx\n`````");
  });
});
