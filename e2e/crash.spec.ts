// F8 as a person sees it: kill -9 in mid-answer, and the page comes back by itself.

import { expect, test } from "./fixtures.ts";
import { ALL_LONG_LINES } from "./project-folder.ts";
import {
  expectWholeFile,
  lastRequest,
  letIn,
  requests,
  shownLines,
  startSession,
  waitUntilDone,
  waitUntilStreaming,
} from "./workbench.ts";

test("[F8] after kill -9 in mid-answer the turn is there, interrupted, and can be continued", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "read LONG.md");
  // Saved once a second: by now there is something to keep.
  await waitUntilStreaming(page, 600);
  await daemon.kill();
  await daemon.restart();

  await expect(page.getByRole("button", { name: "Continue" })).toBeVisible({ timeout: 30_000 });
  const kept = await shownLines(lastRequest(page));
  expect(kept.length).toBeGreaterThan(0);
  // The last line may have been cut in the middle.
  const whole = kept.slice(0, -1);
  expect(whole).toEqual(ALL_LONG_LINES.slice(0, whole.length));

  await page.getByRole("button", { name: "Continue" }).click();
  await expect(requests(page)).toHaveCount(2);
  await waitUntilDone(page);
  await expectWholeFile(lastRequest(page));
});

test("SIGTERM in mid-answer keeps the text, and the page reconnects to the next daemon", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "read LONG.md");
  await waitUntilStreaming(page, 50);
  const before = (await shownLines(lastRequest(page))).length;
  expect(await daemon.stop()).toBe(0);
  await daemon.restart();
  await expect(page.getByRole("button", { name: "Continue" })).toBeVisible({ timeout: 30_000 });
  expect((await shownLines(lastRequest(page))).length).toBeGreaterThanOrEqual(before);
});
