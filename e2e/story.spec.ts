// The first story, on real input: a link, a folder, a question, tools, an answer with right figures.

import { expect, test } from "./fixtures.ts";
import { EXPECTED_COUNTS, FILE_COUNT } from "./project-folder.ts";
import { ask, lastRequest, letIn, prose, startSession, waitUntilDone } from "./workbench.ts";

test("asks what is in a folder and gets tool lines and an answer with the right figures", async ({
  page,
  daemon,
  project,
}) => {
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });

  await letIn(page, daemon);
  expect(page.url(), "the secret has left the address").not.toContain("enrol");
  await startSession(page, project.path, "What is in this folder?");
  const request = lastRequest(page);
  await expect(request.locator(".said")).toHaveText("What is in this folder?");
  await expect(request.locator(".step").first()).toBeVisible();
  await waitUntilDone(page);

  const answer = prose(request).last();
  await expect(answer).toContainText(`${FILE_COUNT} files`);
  for (const [language, { files, lines }] of Object.entries(EXPECTED_COUNTS)) {
    const row = answer.locator("tr", { hasText: language });
    await expect(row.locator("td")).toHaveText([language, String(files), String(lines)]);
  }
  await expect(answer).toContainText("sells newspapers");
  await expect(answer).toContainText("kiosk");
  expect(faults).toEqual([]);
});

test("answers a follow-up in the same session, and its tool output can be opened", async ({
  page,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  await startSession(page, project.path, "help");
  await waitUntilDone(page);
  await ask(page, "find TODO");
  await expect(lastRequest(page).locator(".said")).toHaveText("find TODO");
  await waitUntilDone(page);
  await expect(prose(lastRequest(page)).last()).toContainText("25");
  const step = lastRequest(page).locator("button.step").first();
  await step.click();
  await expect(step).toHaveAttribute("aria-expanded", "true");
  await expect(lastRequest(page).locator(".tool")).toContainText("src/till.ts");
});

test("a link to a turn leads to that turn", async ({ page, daemon, project }) => {
  await letIn(page, daemon);
  const path = await startSession(page, project.path, "help");
  await waitUntilDone(page);
  await page.goto(`${daemon.origin}${path}#t1`);
  await expect(page.locator("article.request[data-marked]")).toBeVisible();
});

test("a browser without a link gets nothing but the way in", async ({ browser, daemon }) => {
  const page = await browser.newPage();
  await page.goto(daemon.origin);
  await expect(page.getByRole("heading", { name: "This browser is not let in yet" })).toBeVisible();
  await expect(page.getByText("troupe link", { exact: false }).first()).toBeVisible();
  await page.close();
});

test("a used link lets nobody else in", async ({ page, browser, daemon }) => {
  const link = await daemon.launchLink();
  await page.goto(link);
  await expect(page.getByText("Where should your agents work?")).toBeVisible();
  const other = await browser.newPage();
  await other.goto(link);
  await expect(other.getByRole("heading", { name: "This link no longer works" })).toBeVisible();
  await other.close();
});
