// A bad network in the middle of an answer: the text is whole soon after, with no gap and no repeat.

import type { Page } from "@playwright/test";
import { type BadNetwork, makeBadNetwork } from "./bad-network.ts";
import type { Daemon } from "./daemon.ts";
import { test as base, expect } from "./fixtures.ts";
import {
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
