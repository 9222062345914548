// marked as its classes alone. Its module also makes the instance behind its one-call functions, which no
// bundler can tell to be unused: 1.7 KB gzip of the first visit that nobody calls.

const MODULE = /\/node_modules\/marked\/lib\/marked\.esm\.js$/;
const EXPORTS = /export\{([^}]*)\}/;
const KEPT = ["Lexer", "Parser", "Renderer", "TextRenderer", "Tokenizer"];

/** @returns {import("vite").Plugin} Fails the build if another version of marked is laid out otherwise. */
export function trimMarked() {
  return {
    name: "trim-marked",
    transform: {
      filter: { id: MODULE },
      handler(code) {
        const pairs =
          EXPORTS.exec(code)?.[1]
            ?.split(",")
            .map((one) => one.split(" as ")) ?? [];
        const local = new Map(pairs.map(([inside, outside]) => [outside, inside]));
        const start = code.search(new RegExp(`var \\w+=new ${local.get("Marked")};function `));
        if (start < 0 || !KEPT.every((name) => local.has(name))) {
          return this.error("marked is not laid out as scripts/trim-marked.mjs expects");
        }
        const kept = KEPT.map((name) => `${local.get(name)} as ${name}`);
        return { code: `${code.slice(0, start)}export{${kept.join(",")}}`, map: null };
      },
    },
  };
}
