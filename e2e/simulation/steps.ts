// What may happen next in a simulated world, and how likely it is.

import { copyDaemon, crash, restart, restoreDaemon, start } from "./daemon-steps.ts";
import {
  copyDevice,
  fastDisk,
  freezeTab,
  reload,
  restoreDevice,
  sleep,
  slowDisk,
  startSecondWorker,
  thawTab,
  wake,
} from "./device-steps.ts";
import { chooseDays, earlier, emptyDisk, fillDisk } from "./keeping-steps.ts";
import { finishTurn, speak, useTool } from "./model-steps.ts";
import {
  advance,
  cut,
  deliver,
  deliverEverything,
  hold,
  letGo,
  repeatFrame,
} from "./network-steps.ts";
import {
  amend,
  closePage,
  closeSession,
  create,
  look,
  openPage,
  openSession,
  prompt,
  see,
  sessionCommand,
  withdraw,
} from "./page-steps.ts";
import { letIn, openLink, sendAway, share, takeLinkBack } from "./sharing-steps.ts";
import type { World } from "./world.ts";

/** Says what it did; null: it cannot happen now. */
type Step = (world: World) => Promise<string | null> | string | null;

export const STEPS: readonly (readonly [weight: number, step: Step])[] = [
  [40, deliver],
  [10, deliverEverything],
  [14, advance],
  [12, prompt],
  [4, create],
  [3, openSession],
  [1, closeSession],
  [2, (world) => sessionCommand(world, "session.rename", { title: `T${world.counts.steps}` })],
  [2, (world) => sessionCommand(world, "session.pin", { pinned: world.random.oneIn(2) })],
  [1, (world) => sessionCommand(world, "session.archive", { archived: world.random.oneIn(2) })],
  [1, (world) => sessionCommand(world, "session.delete", {})],
  [2, (world) => sessionCommand(world, "session.stop", {})],
  [3, (world) => sessionCommand(world, "session.continue", {})],
  [3, (world) => sessionCommand(world, "session.undo", {})],
  [3, (world) => sessionCommand(world, "session.redo", {})],
  [30, speak],
  [6, useTool],
  [8, finishTurn],
  [3, cut],
  [2, hold],
  [2, letGo],
  [0.3, repeatFrame],
  [1, sleep],
  [2, wake],
  [2, look],
  [3, see],
  [3, amend],
  [2, withdraw],
  [1.5, share],
  [1.5, openLink],
  [0.5, takeLinkBack],
  [0.3, sendAway],
  [2, letIn],
  [1, chooseDays],
  [2, fillDisk],
  [1, emptyDisk],
  [2, earlier],
  [1.5, freezeTab],
  [3, thawTab],
  [2, reload],
  [1, openPage],
  [1, closePage],
  [0.7, startSecondWorker],
  [1, slowDisk],
  [2, fastDisk],
  [2, crash],
  [0.6, restart],
  [30, start],
  [1, copyDaemon],
  [0.6, restoreDaemon],
  [1, copyDevice],
  [0.6, restoreDevice],
];
