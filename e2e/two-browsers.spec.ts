// Any browser that was let in sees the same sessions, live.

import { expect, test } from "./fixtures.ts";
import { ALL_LONG_LINES } from "./project-folder.ts";
import {
  ask,
  expectWholeFile,
  lastRequest,
  letIn,
  openAnotherBrowser,
  requests,
  shownLines,
  startSession,
  waitUntilDone,
  waitUntilStreaming,
} from "./workbench.ts";

test("a second browser with its own launch link sees the stream live and whole", async ({
  page,
  browser,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  const path = await startSession(page, project.path, "help");
  await waitUntilDone(page);
  const other = await openAnotherBrowser(browser, daemon, path);
  await expect(requests(other)).toHaveCount(1);

  await ask(page, "read LONG.md");
  await waitUntilStreaming(other, 50);
  expect((await shownLines(lastRequest(other))).length).toBeLessThan(ALL_LONG_LINES.length);
  await Promise.all([waitUntilDone(page), waitUntilDone(other)]);
  await expectWholeFile(lastRequest(page));
  await expectWholeFile(lastRequest(other));
  await other.context().close();
});
