// What the specs start from: a daemon of their own and a project folder of their own.

import { test as base } from "@playwright/test";
import { type Daemon, startDaemon } from "./daemon.ts";
import { makeProjectFolder, type ProjectFolder } from "./project-folder.ts";

export { expect } from "@playwright/test";

interface Fixtures {
  daemon: Daemon;
  project: ProjectFolder;
}

// Playwright reads the names of what a fixture needs from its first parameter, so it has to name one.
export const test = base.extend<Fixtures>({
  daemon: async ({ browserName: _ }, use, testInfo) => {
    const daemon = await startDaemon();
    await use(daemon);
    if (testInfo.status !== testInfo.expectedStatus) {
      await testInfo.attach("daemon.log", { body: daemon.log(), contentType: "text/plain" });
    }
    await daemon.dispose();
  },
  project: async ({ browserName: _ }, use) => {
    const project = makeProjectFolder();
    await use(project);
    project.dispose();
  },
});
