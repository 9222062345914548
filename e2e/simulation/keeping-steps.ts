// What may befall a device's storage, and what people may choose of it.

import { one, somePage } from "./choices.ts";
import type { World } from "./world.ts";

export function fillDisk(world: World): string | null {
  const device = one(
    world,
    world.devices.filter(({ replica }) => replica.roomBytes === Infinity),
  );
  if (device === null) return null;
  const bytes = world.random.pick([0, 500, 4_000, 20_000]);
  device.limitRoom(bytes);
  return `leave ${bytes} bytes to ${device.name}`;
}

export function emptyDisk(world: World): string | null {
  const device = one(
    world,
    world.devices.filter(({ replica }) => replica.roomBytes !== Infinity),
  );
  if (device === null) return null;
  device.unlimitRoom();
  return `leave room to ${device.name}`;
}

export function chooseDays(world: World): string | null {
  const from = somePage(world);
  if (from === null) return null;
  const days = world.random.pick([null, 1, 7]);
  from.page.keepDays(days);
  return `keep ${days} days at ${from.page.name}`;
}

export function earlier(world: World): string | null {
  const from = somePage(world);
  const sessionId = from && one(world, [...from.page.open.keys()]);
  if (from === null || sessionId === null) return null;
  from.page.earlier(sessionId);
  return `scroll up in ${sessionId} at ${from.page.name}`;
}
