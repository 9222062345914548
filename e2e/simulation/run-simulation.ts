// One run of the simulation: a seed decides what happens; afterwards all is mended and judged.

import { createHash } from "node:crypto";
import { deliverAll } from "./deliveries.ts";
import { finishAll, makeRoom, mend } from "./healing.ts";
import { STEPS } from "./steps.ts";
import { judge, judgeStreams, judgeWholeness } from "./verdict.ts";
import { type Counts, World } from "./world.ts";

export const STEPS_DEFAULT = 300;

export interface Outcome {
  readonly counts: Counts;
  /** The same seed has the same in every run. */
  readonly trace: string;
}

export class SimulationFailure extends Error {
  override readonly name = "SimulationFailure";
}

/** Rejects with a `SimulationFailure` that tells what broke and every step that led there. */
export async function runSimulation(seed: number, steps = STEPS_DEFAULT): Promise<Outcome> {
  const world = new World(seed);
  const taken: string[] = [];
  const told = (what: string) => taken.push(`${taken.length} ${what}`);
  const check = () => {
    const { faults } = world;
    if (faults.length > 0) throw failure(seed, taken, faults);
  };
  try {
    await begin(world);
    while (world.counts.steps < steps) {
      const what = await takeStep(world);
      if (what === null) continue;
      world.counts.steps += 1;
      told(what);
      await world.settle();
      world.checkOutboxes();
      check();
    }
    told("mend");
    await mend(world);
    judgeStreams(world);
    check();
    told("finish");
    await finishAll(world);
    await judge(world);
    check();
    told("make room");
    await makeRoom(world);
    await judge(world);
    judgeWholeness(world);
    check();
    return { counts: world.counts, trace: digest(world, taken) };
  } catch (error) {
    if (error instanceof SimulationFailure) throw error;
    throw failure(seed, taken, [...world.faults, String(error)], error);
  } finally {
    await world.dispose();
  }
}

/** Devices are let in one by one, before anything goes wrong. */
async function begin(world: World): Promise<void> {
  await world.startDaemon();
  const count = 2 + world.random.below(3);
  for (let number = 0; number < count; number += 1) {
    const skewMs = world.random.pick([0, 0, -3_600_000, 86_400_000]);
    const device = world.addDevice(
      skewMs,
      world.random.pick(["shared", "shared", "elected", "apart"]),
    );
    const secret = world.daemon?.launchSecret();
    device.startWorker().openPage(secret === undefined ? null : { kind: "launch", secret });
    await world.settle();
    await deliverAll(world);
  }
}

async function takeStep(world: World): Promise<string | null> {
  const total = STEPS.reduce((sum, [weight]) => sum + weight, 0);
  let left = (world.random.below(1_000_000) / 1_000_000) * total;
  for (const [weight, step] of STEPS) {
    left -= weight;
    if (left < 0) return step(world);
  }
  return null;
}

function digest(world: World, taken: readonly string[]): string {
  const hash = createHash("sha256");
  for (const step of taken) hash.update(`${step}\n`);
  for (const { replica } of world.devices) {
    hash.update(JSON.stringify([[...replica.rows.values()], replica.stored]));
  }
  return hash.digest("hex");
}

function failure(
  seed: number,
  taken: readonly string[],
  faults: readonly string[],
  cause?: unknown,
): SimulationFailure {
  const text = `Seed ${seed} broke after ${taken.length} steps:\n${faults.join("\n")}`;
  return new SimulationFailure(`${text}\nThe steps:\n${taken.join("\n")}`, { cause });
}
