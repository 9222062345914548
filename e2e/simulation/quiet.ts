// Waiting until nothing moves by itself any more: promises have run dry and no file is being waited for.
// What is left are timers of the virtual clock, frames in sockets and the model, which the simulation
// moves.

import { setImmediate } from "node:timers/promises";

/** Files are looked at when a session is made; everything else is done by promises alone. */
const isWaitingForFiles = (): boolean =>
  process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"));

export async function quiet(): Promise<void> {
  do {
    await setImmediate();
  } while (isWaitingForFiles());
}

/** Lets so many promise reactions run, and no more: the middle of whatever is under way. */
export async function hops(count: number): Promise<void> {
  for (let hop = 0; hop < count; hop += 1) await null;
}
