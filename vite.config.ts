// One configuration builds page, workers, service worker and the daemon's bundle, and runs the tests.

import { fileURLToPath } from "node:url";
import type { Plugin, PluginOption } from "vite";
import { VitePWA } from "vite-plugin-pwa";
import solid from "vite-plugin-solid";
import { defineConfig } from "vitest/config";
import { precompress } from "./scripts/precompress.mjs";
import { trimMarked } from "./scripts/trim-marked.mjs";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Plugins that are about the page have no business in the daemon's bundle. */
function onlyForThePage(plugins: readonly PluginOption[]): Plugin[] {
  return plugins.flat(1).flatMap((plugin) => {
    if (!plugin || Array.isArray(plugin) || plugin instanceof Promise) return [];
    return [{ ...plugin, applyToEnvironment: (environment) => environment.name === "client" }];
  });
}

/** The PWA plugin runs a build of its own, and gives it an option under a name that is out of use. */
const quietly: Plugin = {
  name: "build-quietly",
  config: () => ({ logLevel: "error" }),
  outputOptions: ({ inlineDynamicImports, ...others }) => ({
    ...others,
    codeSplitting: !inlineDynamicImports,
  }),
};

const serviceWorker = VitePWA({
  strategies: "injectManifest",
  srcDir: "service-worker",
  filename: "sw.ts",
  injectRegister: false,
  manifest: false,
  injectManifest: {
    globPatterns: ["**/*.{js,css,html,svg,png,webmanifest,woff2}"],
    buildPlugins: { vite: [quietly] },
  },
});

export default defineConfig(({ mode }) => ({
  root: mode === "test" ? at(".") : at("web"),
  publicDir: at("public"),
  plugins: [
    ...onlyForThePage([solid()]),
    ...(mode === "test" ? [] : onlyForThePage(serviceWorker)),
  ],
  resolve: {
    alias: [
      // Only tests use it, as the other side of the codec; this is the variant without a native part.
      { find: /^msgpackr$/, replacement: at("node_modules/msgpackr/index.js") },
      // Tests resolve as a page does, for Solid's sake; this package's browser entry is empty.
      { find: /^ws$/, replacement: at("node_modules/ws/wrapper.mjs") },
    ],
  },
  worker: {
    format: "es",
    plugins: () => [trimMarked()],
    rolldownOptions: {
      output: { comments: { legal: true, annotation: false, jsdoc: false } },
    },
  },
  server: { fs: { allow: [at(".")] } },
  environments: {
    client: {
      build: {
        outDir: at("dist/web"),
        emptyOutDir: true,
        assetsInlineLimit: 0,
        modulePreload: { polyfill: false },
        rolldownOptions: {
          checks: { bundlerTimings: false },
          // What every visit needs is one file: it compresses better than in parts.
          output: { codeSplitting: { groups: [{ name: "page", tags: ["$initial"] }] } },
        },
      },
    },
    server: {
      consumer: "server",
      resolve: { noExternal: true, external: ["better-sqlite3", "@vscode/ripgrep"] },
      build: {
        outDir: at("dist/server"),
        emptyOutDir: true,
        copyPublicDir: false,
        target: "node20.19",
        minify: false,
        ssr: true,
        rolldownOptions: {
          input: { main: at("server/main.ts") },
          output: { format: "es", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
        },
      },
    },
  },
  builder: {
    async buildApp(builder) {
      const { client, server } = builder.environments;
      if (!client || !server) throw new Error("vite.config.ts: an environment is missing");
      await builder.build(client);
      await precompress(at("dist/web"));
      await builder.build(server);
    },
  },
  test: {
    environment: "node",
    include: [
      "{shared,server,workers,web,scripts}/**/*.test.{ts,tsx}",
      "e2e/simulation/*.vitest.ts",
    ],
  },
}));
