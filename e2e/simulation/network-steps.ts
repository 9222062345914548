// What the network and time may do.

import { one } from "./choices.ts";
import { deliverAll, deliverSome, movable } from "./deliveries.ts";
import type { World } from "./world.ts";

export async function deliver(world: World): Promise<string | null> {
  const move = one(world, movable(world));
  if (move === null) return null;
  const count = 1 + world.random.below(6);
  await deliverSome(world, move.socket, move.direction, count);
  return `deliver ${count} on ${move.socket.owner}#${move.socket.number} ${move.direction}`;
}

export async function deliverEverything(world: World): Promise<string> {
  await deliverAll(world);
  return "deliver everything";
}

export async function advance(world: World): Promise<string> {
  const ms = world.random.pick([1, 20, 40, 200, 600, 1_100, 3_000, 10_000, 40_000]);
  await world.clock.advance(ms);
  return `advance ${ms}`;
}

export function cut(world: World): string | null {
  const socket = one(
    world,
    world.network.sockets.filter((each) => !each.isOpening),
  );
  if (socket === null) return null;
  socket.cut();
  world.counts.drops += 1;
  return `cut ${socket.owner}#${socket.number}`;
}

export function hold(world: World): string | null {
  const socket = one(world, world.network.sockets);
  if (socket === null) return null;
  socket.isHeld = true;
  return `hold ${socket.owner}#${socket.number}`;
}

export function letGo(world: World): string | null {
  const socket = one(
    world,
    world.network.sockets.filter(({ isHeld }) => isHeld),
  );
  if (socket === null) return null;
  socket.isHeld = false;
  return `let go ${socket.owner}#${socket.number}`;
}

export function repeatFrame(world: World): string | null {
  const move = one(world, movable(world));
  if (move === null) return null;
  move.socket.repeat(move.direction);
  return `repeat a frame on ${move.socket.owner}#${move.socket.number} ${move.direction}`;
}
