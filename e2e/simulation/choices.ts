// Choosing by the seed among what there is.

import type { SimulatedDevice } from "./simulated-device.ts";
import type { SimulatedPage } from "./simulated-page.ts";
import type { World } from "./world.ts";

/** Longer than a text may be within its row. */
const LONG_TEXT_UNITS = 18_000;

export function one<T>(world: World, choices: readonly T[]): T | null {
  return choices[world.random.below(Math.max(1, choices.length))] ?? null;
}

export function somePage(world: World): { device: SimulatedDevice; page: SimulatedPage } | null {
  const device = one(
    world,
    world.devices.filter(({ isAsleep }) => !isAsleep),
  );
  const page = device && one(world, device.pages);
  return page && { device, page };
}

export function somewhere(world: World) {
  const from = somePage(world);
  const sessionId = from && one(world, [...from.page.open.keys(), ...from.page.sessionIds]);
  return from && sessionId && { ...from, sessionId };
}

export const long = (world: World, word: string): string =>
  word.repeat(Math.ceil((LONG_TEXT_UNITS + world.random.below(3_000)) / word.length));
