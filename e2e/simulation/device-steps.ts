// What may befall a device.

import { one } from "./choices.ts";
import { hops } from "./quiet.ts";
import { stir } from "./stir.ts";
import type { World } from "./world.ts";

const WORKERS_MAX = 2;

export function sleep(world: World): string | null {
  const device = one(
    world,
    world.devices.filter(({ isAsleep }) => !isAsleep),
  );
  if (device === null) return null;
  device.sleep();
  return `sleep ${device.name}`;
}

export async function wake(world: World): Promise<string | null> {
  const device = one(
    world,
    world.devices.filter(({ isAsleep }) => isAsleep),
  );
  if (device === null) return null;
  device.wake();
  await world.clock.advance(0);
  return `wake ${device.name}`;
}

/** A worker dies in the middle of something, and a new one with pages like the old takes its place. */
export async function reload(world: World): Promise<string | null> {
  const device = one(world, world.devices);
  const worker = device && one(world, device.workers);
  if (device === null || worker === null) return null;
  stir(world);
  const hopCount = world.random.below(60);
  await hops(hopCount);
  const opened = worker.pages.map(({ open }) => [...open.keys()]);
  device.killWorker(worker);
  await world.settle();
  world.excuseUnstored(device);
  const successor = device.startWorker();
  for (const sessionIds of opened) {
    const page = successor.openPage();
    for (const sessionId of sessionIds) page.openSession(sessionId);
  }
  world.counts.reloads += 1;
  return `reload ${worker.name} after ${hopCount} as ${successor.name}`;
}

export function startSecondWorker(world: World): string | null {
  const device = one(world, world.devices);
  if (device?.kind !== "apart" || device.workers.length >= WORKERS_MAX) return null;
  const worker = device.startWorker();
  worker.openPage();
  return `start ${worker.name}`;
}

export function slowDisk(world: World): string | null {
  const device = one(
    world,
    world.devices.filter(({ isDiskSlow }) => !isDiskSlow),
  );
  if (device === null) return null;
  device.slowDownDisk();
  return `slow disk of ${device.name}`;
}

export function fastDisk(world: World): string | null {
  const device = one(
    world,
    world.devices.filter(({ isDiskSlow }) => isDiskSlow),
  );
  if (device === null) return null;
  device.speedUpDisk();
  return `fast disk of ${device.name}`;
}

export function copyDevice(world: World): string | null {
  const device = one(
    world,
    world.devices.filter(({ isDiskSlow }) => !isDiskSlow),
  );
  if (device === null) return null;
  world.keepReplica(device);
  return `copy ${device.name}`;
}

export async function restoreDevice(world: World): Promise<string | null> {
  const device = one(world, world.devices);
  if (device === null || !(await world.restoreReplica(device))) return null;
  device.startWorker().openPage();
  world.counts.deviceRestores += 1;
  return `restore ${device.name}`;
}

/** A tab in the background is put on ice, in the middle of something. */
export function freezeTab(world: World): string | null {
  const tabs = world.devices.flatMap((device) => (device.kind === "elected" ? device.workers : []));
  const tab = one(
    world,
    tabs.filter(({ isFrozen }) => !isFrozen),
  );
  if (tab === null) return null;
  tab.freeze();
  return `freeze ${tab.name}${tab.isLeading ? ", which leads" : ""}`;
}

export function thawTab(world: World): string | null {
  const tabs = world.devices.flatMap(({ workers }) => workers);
  const tab = one(
    world,
    tabs.filter(({ isFrozen }) => isFrozen),
  );
  if (tab === null) return null;
  tab.thaw();
  return `thaw ${tab.name}`;
}
