// Everything that was broken is mended, and the world is given the time it needs.

import { CONNECTION_QUEUE_MAX_BYTES } from "../../shared/limits.ts";
import { deliverAll } from "./deliveries.ts";
import type { World } from "./world.ts";

/** Longer than any wait there is: a reconnect's, a dead socket's, a refusal's. */
const QUIET_S = 45;
const LETTING_IN_S = 15;
/** Those who wait longest send others away who were let in before. */
const LONG_S = 150;
const ROUNDS_MAX = 200;

/** The network delivers, devices are awake, the daemon runs; models still speak. */
export async function mend(world: World): Promise<void> {
  if (world.queueMaxBytes < CONNECTION_QUEUE_MAX_BYTES) {
    // With less than one burst may take, nobody would ever be up to date.
    world.queueMaxBytes = CONNECTION_QUEUE_MAX_BYTES;
    await world.crashDaemon(0);
  }
  if (world.daemon === null) await world.startDaemon();
  for (const socket of world.network.sockets) socket.isHeld = false;
  for (const device of world.devices) {
    device.wake();
    device.speedUpDisk();
    device.leaveRoomForTitles();
    if (device.workers.length === 0) device.startWorker();
    for (const worker of device.workers) {
      worker.thaw();
      if (worker.pages.length === 0) worker.openPage();
    }
  }
  await world.clock.advance(0);
  for (const page of world.devices.flatMap(({ pages }) => pages)) page.wake();
  const end = () => (isAnyoneTurnedAway(world) ? LONG_S : QUIET_S);
  for (let second = 0; second < end(); second += 1) {
    if (second % LETTING_IN_S === 0) letIn(world);
    await deliverAll(world);
    await world.clock.advance(1_000);
    await world.settle();
  }
  await deliverAll(world);
}

const isAnyoneTurnedAway = ({ devices }: World): boolean =>
  devices.some(({ pages }) => pages.some(({ isTurnedAway }) => isTurnedAway));

/** Whoever was turned away, as is right after a revocation or a restore, gets a launch link. */
function letIn(world: World): void {
  for (const { pages } of world.devices) {
    const page = pages.find(({ isTurnedAway }) => isTurnedAway);
    if (page === undefined || world.daemon === null) continue;
    page.enrol({ kind: "launch", secret: world.daemon.launchSecret() });
  }
}

/** All browsers may keep everything, and people have read what was refused. */
export async function makeRoom(world: World): Promise<void> {
  for (const device of world.devices) {
    device.unlimitRoom();
    device.pages[0]?.keepDays(null);
    for (const page of device.pages) {
      for (const { state, commandId } of page.outbox) {
        if (state === "refused") page.withdraw(commandId, () => {});
      }
    }
  }
  for (let second = 0; second < QUIET_S; second += 1) {
    await deliverAll(world);
    await world.clock.advance(1_000);
    await world.settle();
  }
}

/** Models and tools come to an end, until nothing runs. */
export async function finishAll(world: World): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const model = world.daemon?.model;
    if (model === undefined) throw new Error("The daemon is down");
    const [turns, tools] = [[...model.turns], [...model.tools]];
    if (turns.length + tools.length === 0) break;
    for (const turn of turns) {
      model.ended(turn);
      turn.done("stop");
    }
    for (const tool of tools) tool.finish({ text: "result", isError: false });
    await world.settle();
    await deliverAll(world);
  }
  // What came last is stored, and what it refers to fetched.
  for (let second = 0; second < 5; second += 1) {
    await world.clock.advance(1_000);
    await deliverAll(world);
  }
}
