// A short run of `npm run kill`: no browser in it, but the daemon as it was built.

import { expect, test } from "@playwright/test";
import { inWords, runKillLoop } from "./kill-loop/run-kill-loop.ts";

const KILLS = 5;

test("[F3] [F5] [F8] a daemon that is killed at work loses nothing that it promised, and does nothing twice", async () => {
  test.setTimeout(180_000);
  const seed = Math.floor(Math.random() * 2 ** 32);
  const counts = await runKillLoop({ kills: KILLS, seed });
  test.info().annotations.push({ type: "counts", description: inWords(counts) });
  expect(counts.kills).toBe(KILLS);
  expect(counts.acknowledged).toBeGreaterThan(0);
});
