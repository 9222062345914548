// Streams are addressed by offset: whoever comes in the middle of one sees all of it, once.

import { expect, test } from "./fixtures.ts";
import {
  expectWholeFile,
  lastRequest,
  letIn,
  requests,
  startSession,
  waitUntilDone,
  waitUntilStreaming,
} from "./workbench.ts";

test("a reload in mid-answer loses and repeats nothing", async ({ page, daemon, project }) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "read LONG.md");
  await waitUntilStreaming(page, 50);
  await page.reload();
  await expect(requests(page)).toHaveCount(1);
  await waitUntilDone(page);
  await expectWholeFile(lastRequest(page));
});
