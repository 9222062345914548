// Runs many seeds as tests. Vitest runs files side by side, so each file takes a share of the seeds.

import { describe, test } from "vitest";
import { runSimulation } from "./run-simulation.ts";

const SEEDS_PER_TEST = 10;
/** A processor that is shared takes its time; a run that hangs is cut by its own limits. */
const TIMEOUT_MS = 300_000;

export function testSeeds(from: number, count: number): void {
  describe("[F1] to [F9] hold in the simulation", () => {
    for (let first = from; first < from + count; first += SEEDS_PER_TEST) {
      const end = Math.min(first + SEEDS_PER_TEST, from + count);
      test(`of seeds ${first} to ${end - 1}`, { timeout: TIMEOUT_MS }, async () => {
        for (let seed = first; seed < end; seed += 1) await runSimulation(seed);
      });
    }
  });
}
