// Moving what lies in the sockets.

import type { Direction, SimulatedSocket } from "./simulated-network.ts";
import type { World } from "./world.ts";

const DIRECTIONS: readonly [Direction, Direction] = ["toDaemon", "toClient"];
/** More rounds than any exchange takes. */
const ROUNDS_MAX = 400;

/** Sockets on which something can move. A device that sleeps hears nothing. */
export function movable(world: World): { socket: SimulatedSocket; direction: Direction }[] {
  return world.network.sockets.flatMap((socket) =>
    DIRECTIONS.filter((direction) => canMove(world, socket, direction)).map((direction) => ({
      socket,
      direction,
    })),
  );
}

export function deliverOne(world: World, socket: SimulatedSocket, direction: Direction): void {
  if (!canMove(world, socket, direction)) return;
  const { daemon } = world;
  if (socket.isOpening) socket.open(daemon && ((end) => daemon.accept(end)));
  else socket.deliver(direction);
}

export async function deliverSome(
  world: World,
  socket: SimulatedSocket,
  direction: Direction,
  count: number,
): Promise<void> {
  for (let moved = 0; moved < count; moved += 1) {
    deliverOne(world, socket, direction);
    await world.settle();
  }
}

/** Until nothing moves any more. */
export async function deliverAll(world: World): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const moves = movable(world);
    if (moves.length === 0) return;
    for (const { socket, direction } of moves) await deliverSome(world, socket, direction, 1);
  }
  world.accuse("The sockets do not come to rest");
}

function canMove(world: World, socket: SimulatedSocket, direction: Direction): boolean {
  const isAsleep = world.devices.some(({ name, isAsleep }) => name === socket.owner && isAsleep);
  if (isAsleep && direction === "toClient") return false;
  if (socket.isOpening) return !isAsleep && direction === "toClient" && !socket.isHeld;
  return socket.waiting(direction) > 0;
}
