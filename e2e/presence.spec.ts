// Who else looks at the session now, in its title bar.

import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures.ts";
import { letIn, openAnotherBrowser, requests, startSession, waitUntilDone } from "./workbench.ts";

const faces = (page: Page) => page.getByRole("img", { name: /^Also open on: / });

/** What a browser does when its window is covered or another tab comes to the front. */
async function setVisibility(page: Page, state: DocumentVisibilityState): Promise<void> {
  await page.evaluate((visibilityState) => {
    Object.defineProperty(document, "visibilityState", {
      configurable: true,
      get: () => visibilityState,
    });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);
}

test("each browser shows who else sees the session, for as long as somebody does", async ({
  page,
  browser,
  daemon,
  project,
}) => {
  await letIn(page, daemon);
  const path = await startSession(page, project.path, "help");
  await waitUntilDone(page);
  await expect(faces(page)).toHaveCount(0);
  const other = await openAnotherBrowser(browser, daemon, path);
  await expect(requests(other)).toHaveCount(1);
  await expect(faces(page).locator("i")).toHaveCount(1);
  await expect(faces(other).locator("i")).toHaveCount(1);

  await setVisibility(other, "hidden");
  await expect(faces(page)).toHaveCount(0);
  // It still watches, and hears who else looks.
  await expect(faces(other)).toHaveCount(1);
  await setVisibility(other, "visible");
  await expect(faces(page)).toHaveCount(1);

  // Another tab of the same browser is the same device.
  const tab = await other.context().newPage();
  await tab.goto(`${daemon.origin}${path}`);
  await expect(faces(tab)).toHaveCount(1);
  await expect(faces(page).locator("i")).toHaveCount(1);
  await tab.close();
  await other.getByRole("link", { name: "Devices" }).click();
  await expect(faces(page)).toHaveCount(0);

  await other.goBack();
  await expect(faces(page)).toHaveCount(1);
  await other.context().close();
  await expect(faces(page)).toHaveCount(0);
});
