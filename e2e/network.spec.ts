// A bad network in the middle of an answer: the text is whole soon after, with no gap and no repeat.

import type { Page } from "@playwright/test";
import { type BadNetwork, makeBadNetwork } from "./bad-network.ts";
import type { Daemon } from "./daemon.ts";
import { test as base, expect } from "./fixtures.ts";
import {
  ask,
  expectWholeFile,
  lastRequest,
  requests,
  shownLines,
  startSession,
  waitUntilDone,
  waitUntilStreaming,
} from "./workbench.ts";

const test = base.extend<{ network: BadNetwork }>({
  network: async ({ daemon }, use) => {
    const network = await makeBadNetwork(daemon.port);
    await use(network);
    await network.dispose();
  },
});

async function streamThrough(page: Page, network: BadNetwork, daemon: Daemon, folder: string) {
  await page.goto(network.through(await daemon.launchLink()));
  await startSession(page, folder, "read LONG.md");
  await waitUntilStreaming(page, 50);
}

test("[L3] a socket that went silent is found out within seconds of a wake", async ({
  page,
  daemon,
  project,
  network,
}) => {
  await streamThrough(page, network, daemon, project.path);
  network.stall();
  // A person comes back to a machine whose connection died without a word.
  await page.evaluate(() => dispatchEvent(new Event("online")));
  await expect
    .poll(async () => (await shownLines(lastRequest(page))).length, { timeout: 10_000 })
    .toBeGreaterThan(500);
  await waitUntilDone(page);
  await expectWholeFile(lastRequest(page));
});

test("[S2] a connection that was cut in mid-answer comes back with the whole text", async ({
  page,
  daemon,
  project,
  network,
}) => {
  await streamThrough(page, network, daemon, project.path);
  network.cut();
  await expect(page.locator(".foot .sync")).toContainText("Offline");
  await page.waitForTimeout(3_000);
  network.restore();
  await expectWholeFile(lastRequest(page));
  await waitUntilDone(page);
  await expectWholeFile(lastRequest(page));
});

test("[S2] [F5] two tabs and another browser behind a network that delays, cuts and stalls show the same", async ({
  page,
  context,
  browser,
  daemon,
  project,
  network,
}) => {
  await streamThrough(page, network, daemon, project.path);
  const session = new URL(page.url()).pathname;
  const tab = await context.newPage();
  await tab.goto(`${network.origin}${session}`);
  const elsewhere = await (await browser.newContext()).newPage();
  const { hash } = new URL(await daemon.launchLink());
  await elsewhere.goto(`${network.origin}${session}${hash}`);
  const pages = [page, tab, elsewhere];
  for (const each of pages) await expect(requests(each)).toHaveCount(1);

  network.delay(40);
  await ask(tab, "read LONG.md");
  for (const each of pages) await expect(requests(each)).toHaveCount(2);
  await waitUntilStreaming(elsewhere, 50);
  network.cut();
  network.restore();
  await waitUntilStreaming(tab, 200);
  network.stall();
  for (const each of pages) await each.evaluate(() => dispatchEvent(new Event("online")));
  for (const each of pages) {
    await waitUntilDone(each);
    await expectWholeFile(lastRequest(each));
  }

  network.cut();
  for (const each of pages) await expect(each.locator(".foot .sync")).toContainText("Offline");
  await ask(tab, "help");
  await ask(elsewhere, "what is in this folder?");
  network.restore();
  for (const each of pages) {
    await expect(requests(each)).toHaveCount(4);
    await waitUntilDone(each);
    await expect(requests(each)).toHaveCount(4);
    for (const prompt of ["help", "what is in this folder?"]) {
      await expect(requests(each).locator(".said").getByText(prompt, { exact: true })).toHaveCount(
        1,
      );
    }
  }
  await elsewhere.context().close();
});

test("[S2] ten reloads during one answer lose and repeat nothing", async ({
  page,
  daemon,
  project,
  network,
}) => {
  await streamThrough(page, network, daemon, project.path);
  for (let reloads = 0; reloads < 10; reloads++) await page.reload();
  await expect(requests(page)).toHaveCount(1);
  await waitUntilDone(page);
  await expectWholeFile(lastRequest(page));
});
