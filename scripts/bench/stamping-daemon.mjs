// Builds the daemon as it is, but for its list of providers.

import { join } from "node:path";
import { ROOT } from "../one-at-a-time.mjs";

const STANDS_IN = join(ROOT, "scripts", "bench", "stamping-providers.mjs");
const REPLACED = join(ROOT, "server", "providers", "index.ts");
/** Beside the page's files, where it looks for them. */
const FOLDER = join(ROOT, "dist", "bench");

/** Resolves with the program's path. */
export async function buildStampingDaemon() {
  const { createBuilder } = await import("vite");
  const builder = await createBuilder(
    {
      configFile: join(ROOT, "vite.config.ts"),
      logLevel: "error",
      plugins: [{ name: "stamping-providers", enforce: "pre", load: standIn }],
      environments: { server: { build: { outDir: FOLDER } } },
    },
    null,
  );
  const { server } = builder.environments;
  if (server === undefined) throw new Error("vite.config.ts has no server");
  await builder.build(server);
  return join(FOLDER, "main.js");
}

/** @param {string} id */
const standIn = (id) =>
  id === REPLACED ? `export { makeProviders } from ${JSON.stringify(STANDS_IN)};` : null;
