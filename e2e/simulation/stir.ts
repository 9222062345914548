import { one } from "./choices.ts";
import { deliverOne, movable } from "./deliveries.ts";
import { finishTurn, speak } from "./model-steps.ts";
import type { World } from "./world.ts";

/** Sets something going, without waiting for it. */
export function stir(world: World): string {
  const choice = world.random.below(4);
  if (choice === 0) return speak(world) ?? "nothing";
  if (choice === 1) return finishTurn(world) ?? "nothing";
  const move = one(world, movable(world));
  if (move === null) return "nothing";
  deliverOne(world, move.socket, move.direction);
  return `a frame on ${move.socket.owner}#${move.socket.number} ${move.direction}`;
}
