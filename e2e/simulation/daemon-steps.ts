// What may befall the daemon.

import { one } from "./choices.ts";
import { deliverSome, movable } from "./deliveries.ts";
import { stir } from "./stir.ts";
import type { World } from "./world.ts";

const COPIES_MAX = 4;

export async function crash(world: World): Promise<string | null> {
  if (world.daemon === null) return null;
  const during = stir(world);
  const reactions = world.random.below(world.random.pick([5, 60, 400, 2_000]));
  await world.crashDaemon(reactions);
  world.counts.crashes += 1;
  return `crash ${reactions} after ${during}`;
}

export async function restart(world: World): Promise<string | null> {
  if (world.daemon === null) return null;
  const during = stir(world);
  await world.stopDaemon(async () => {
    const move = one(world, movable(world));
    if (move !== null) await deliverSome(world, move.socket, move.direction, 3);
  });
  world.counts.restarts += 1;
  return `stop after ${during}`;
}

export async function start(world: World): Promise<string | null> {
  if (world.daemon !== null) return null;
  const days = world.random.oneIn(4) ? world.random.pick([1, 3, 10]) : 0;
  world.passDays(days);
  await world.startDaemon();
  return `start the daemon ${days} days later`;
}

export function copyDaemon(world: World): string | null {
  if (world.daemon === null || world.copies >= COPIES_MAX) return null;
  world.copyDatabase();
  return `copy the database as ${world.copies - 1}`;
}

export async function restoreDaemon(world: World): Promise<string | null> {
  if (world.copies === 0) return null;
  const which = world.random.below(world.copies);
  await world.restoreDatabase(which);
  world.counts.restores += 1;
  return `restore the database from ${which}`;
}
