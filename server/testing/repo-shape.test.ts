import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  badNames,
  barrelFiles,
  cycles,
  deadPages,
  deadPaths,
  forbiddenImports,
  htmlSinks,
  importsOf,
  overlongFiles,
  strayFiles,
  type Tree,
} from "./repo-shape.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** What is made, not written. */
const IGNORED = ["node_modules", "dist", ".git", "test-results", "playwright-report", ".DS_Store"];
const TEXT = /\.(ts|tsx|mjs|js|css|md|html|json|svg|webmanifest)$/;

function readTree(folder = ""): Map<string, string> {
  const tree = new Map<string, string>();
  for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
    if (IGNORED.includes(entry.name) || entry.name.endsWith(".log")) continue;
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) for (const [inner, text] of readTree(path)) tree.set(inner, text);
    else tree.set(path, TEXT.test(path) ? readFileSync(join(ROOT, path), "utf8") : "");
  }
  return tree;
}

describe("this repository", () => {
  const tree = readTree();

  it("is read whole", () => {
    expect(tree.has("server/main.ts")).toBe(true);
    expect(tree.size).toBeGreaterThan(50);
  });
  it("imports only what its folder may import", () => {
    expect(forbiddenImports(tree)).toEqual([]);
  });
  it("has no import cycle", () => {
    expect(cycles(tree)).toEqual([]);
  });
  it("has no file over 600 lines", () => {
    expect(overlongFiles(tree)).toEqual([]);
  });
  it("has no barrel file", () => {
    expect(barrelFiles(tree)).toEqual([]);
  });
  it("names files in kebab-case, for what they do", () => {
    expect(badNames(tree)).toEqual([]);
  });
  it("keeps its top level to the parts of the layout and their configuration", () => {
    expect(strayFiles(tree)).toEqual([]);
  });
  it("lets HTML into the page through one module", () => {
    expect(htmlSinks(tree)).toEqual([]);
  });
  it("names no path in its docs that does not exist", () => {
    expect(deadPaths(tree, (path) => existsSync(join(ROOT, path)))).toEqual([]);
  });
  it("names no page in its comments that does not exist", () => {
    expect(deadPages(tree)).toEqual([]);
  });
});

describe("the rules themselves", () => {
  const one = (path: string, text: string): Tree => new Map([[path, text]]);
  const importing = (from: string, to: string, type = ""): string[] =>
    forbiddenImports(one(from, `import ${type}{ thing } from "${to}";`));

  it("find every way to import", () => {
    const code = `
      import a, { type b } from "./a.ts";
      import type { C } from "./c.ts";
      import "./d.ts";
      export { e } from "./e.ts";
      const f = await import("./f.ts");
      new Worker(new URL("./g.ts", import.meta.url), { type: "module" });
      import {
        h,
        i,
      } from "../h.ts";
      // import { no } from "./comment.ts";
      /* import { no } from "./block.ts"; */
      const text = "// not a comment"; import { j } from "./j.ts";
      new URL("../web/", import.meta.url);
    `;
    const found = importsOf("web/state/x.ts", code);
    expect(found.map(({ to }) => to)).toEqual(
      ["a", "c", "d", "e", "f", "g"]
        .map((name) => `web/state/${name}.ts`)
        .concat("web/h.ts", "web/state/j.ts"),
    );
    expect(found.filter(({ isTypeOnly }) => isTypeOnly)).toHaveLength(1);
  });

  it.each([
    ["web/main.tsx", "../server/main.ts"],
    ["web/state/a.ts", "../../workers/sync/engine.ts"],
    ["workers/client.ts", "../web/state/rows.ts"],
    ["workers/sync/a.ts", "node:fs"],
    ["shared/ids.ts", "../server/clock.ts"],
    ["shared/ids.ts", "node:crypto"],
    ["shared/ids.ts", "./limits"],
    ["server/feed/a.ts", "../../web/state/rows.ts"],
    ["server/store/a.ts", "../feed/hub.ts"],
    ["server/tools/a.ts", "../store/store.ts"],
    ["server/sessions/a.ts", "../methods/index.ts"],
    ["server/sessions/a.ts", "../testing/fake-clock.ts"],
    ["server/clock.ts", "./store/store.ts"],
    ["server/cli/a.ts", "../main.ts"],
    ["web/components/a.tsx", "../state/rows.ts"],
    ["web/components/a.tsx", "../pages/session/index.tsx"],
    ["web/state/a.ts", "../components/a.tsx"],
    ["web/service-worker/sw.ts", "../state/rows.ts"],
    ["e2e/a.spec.ts", "../server/main.ts"],
  ])("forbid %s to import %s", (from, to) => {
    expect(importing(from, to)).toHaveLength(1);
  });

  it.each([
    ["web/state/a.ts", "../../workers/client.ts", ""],
    ["web/pages/session/index.tsx", "../../state/rows.ts", ""],
    ["web/pages/session/index.tsx", "../../components/a.tsx", ""],
    ["workers/sync/a.ts", "../../shared/ids.ts", ""],
    ["server/main.ts", "./transport/transport.ts", ""],
    ["server/transport/a.ts", "../feed/devices.ts", ""],
    ["server/feed/hub.ts", "../transport/connection.ts", "type "],
    ["server/sessions/a.test.ts", "../testing/fake-clock.ts", ""],
    ["server/cli/a.ts", "node:fs", ""],
    ["server/cli/a.ts", "../../package.json", ""],
    ["e2e/a.spec.ts", "../server/testing/b.ts", ""],
  ])("allow %s to import %s", (from, to, type) => {
    expect(importing(from, to, type)).toEqual([]);
  });

  it("find a cycle, and a module that imports itself", () => {
    const tree = new Map([
      ["shared/a.ts", `import "./b.ts";`],
      ["shared/b.ts", `import "./c.ts";`],
      ["shared/c.ts", `import type { A } from "./a.ts";`],
      ["shared/d.ts", `import "./a.ts"; import "./d.ts";`],
    ]);
    expect(cycles(tree)).toEqual([
      "shared/a.ts → shared/b.ts → shared/c.ts → shared/a.ts",
      "shared/d.ts → shared/d.ts",
    ]);
  });

  it("count lines, tests and fixtures aside", () => {
    const long = "x\n".repeat(601);
    expect(overlongFiles(one("web/a.ts", long))).toHaveLength(1);
    expect(overlongFiles(one("web/a.ts", "x\n".repeat(600)))).toEqual([]);
    expect(overlongFiles(one("web/a.test.ts", long))).toEqual([]);
    expect(overlongFiles(one("shared/noise/fixtures/a.ts", long))).toEqual([]);
  });

  it("tell a barrel from a module with a re-export", () => {
    const reexport = `// All of it.\nexport * from "./a.ts";\nexport type { B } from "./b.ts";\n`;
    expect(barrelFiles(one("web/index.ts", reexport))).toHaveLength(1);
    expect(barrelFiles(one("web/index.ts", `${reexport}export const c = 1;\n`))).toEqual([]);
  });

  it("know bad names", () => {
    expect(badNames(one("web/PageFrame.tsx", ""))).toHaveLength(1);
    expect(badNames(one("server/utils/text.ts", ""))).toHaveLength(1);
    expect(badNames(one("server/store/0001-feed.test.ts", ""))).toEqual([]);
    expect(strayFiles(one("src/main.ts", ""))).toHaveLength(1);
    expect(strayFiles(one("notes.md", ""))).toHaveLength(1);
  });

  it.each(["x.innerHTML = y", "document.write(y)", "new DOMParser()", "<iframe srcdoc={y} />"])(
    "find the HTML sink in %s",
    (code) => {
      expect(htmlSinks(one("web/pages/a.tsx", code))).toHaveLength(1);
      expect(htmlSinks(one("web/components/safe-html.ts", code))).toEqual([]);
      expect(htmlSinks(one("web/pages/a.tsx", `// ${code}`))).toEqual([]);
    },
  );

  it("find dead paths in docs and leave patterns alone", () => {
    const text =
      "See `server/gone.ts`, `server/here.ts`, server/tools/<name>.ts, [more](gone.md) and " +
      "[the web](https://example.org/server/x.ts), docs/decisions/NNNN-what.md.";
    const exists = (path: string) => ["server/here.ts", "server/tools"].includes(path);
    expect(deadPaths(one("docs/a.md", text), exists)).toEqual([
      "docs/a.md names server/gone.ts, which does not exist",
      "docs/a.md names docs/gone.md, which does not exist",
    ]);
  });

  it("find pages that comments name and nobody wrote", () => {
    const code =
      '// See docs/a.md and plan.md, of a `README.md`.\nconst file = "NOTES.md"; /* b.md */';
    const tree = new Map([
      ["server/a.ts", code],
      ["docs/a.md", ""],
    ]);
    expect(deadPages(tree)).toEqual([
      "server/a.ts refers to plan.md, which does not exist",
      "server/a.ts refers to b.md, which does not exist",
    ]);
  });
});
