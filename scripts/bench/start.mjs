// How long from starting the process to its first answer, on an empty data folder; what it holds
// when idle.

import { startDaemon } from "./daemon.mjs";

const RUNS = 7;
const SETTLE_MS = 5_000;

export async function run() {
  const starts = [];
  let residentMb = 0;
  for (let round = 0; round < RUNS; round += 1) {
    const daemon = await startDaemon();
    starts.push(daemon.startMs);
    if (round === RUNS - 1) {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      residentMb = daemon.residentMb();
    }
    await daemon.stop();
  }
  const median = starts.sort((a, b) => a - b)[Math.floor(RUNS / 2)];
  return [
    { metric: "start to listening, median", value: Math.round(median), unit: "ms", target: 300 },
    { metric: "idle memory", value: Number(residentMb.toFixed(1)), unit: "MB", target: 90 },
  ];
}
