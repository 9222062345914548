// Kills the real daemon again and again while devices work with it, and after each time holds everything
// it had promised against what it holds now (F1 to F9, F8 above all).

import { setTimeout as sleep } from "node:timers/promises";
import { makeSeededRandom, type SeededRandom } from "../../server/testing/seeded-random.ts";
import { continueTarget, isBusy } from "../../shared/model/requests.ts";
import { type Daemon, startDaemon } from "../daemon.ts";
import { makeProjectFolder } from "../project-folder.ts";
import { checkDatabase } from "./database-check.ts";
import { FeedDevice, type FeedDeviceOptions } from "./feed-device.ts";
import {
  AnswerCheck,
  checkCommands,
  checkKept,
  checkRepaired,
  checkTexts,
  compareReplicas,
  type Interrupted,
  whatStreams,
} from "./invariants.ts";
import { KillMoments } from "./kill-moments.ts";
import { Ledger } from "./ledger.ts";
import { Load, PROMPTS } from "./load.ts";

const DEVICES = 3;
/** Answered commands that are sent again after each kill. */
const SENT_AGAIN = 15;
const QUIET_MAX_MS = 60_000;
const POLL_MS = 5;

export interface KillLoopOptions {
  readonly kills: number;
  readonly seed: number;
  /** Another build than the one in `dist/`. */
  readonly program?: string;
  readonly told?: (line: string) => void;
}

export interface KillCounts {
  kills: number;
  prompts: number;
  acknowledged: number;
  refused: number;
  sentAgain: number;
  reconnects: number;
  interruptedTurns: number;
  toolResults: number;
  continued: number;
  answersCompared: number;
  /** How old the newest text was, at most, that had been seen and was lost. */
  oldestLostMs: number;
}

export class KillLoopFailure extends Error {
  override readonly name = "KillLoopFailure";
}

/** Rejects with a `KillLoopFailure` that tells what broke, the seed and each kill before it. */
export async function runKillLoop(options: KillLoopOptions): Promise<KillCounts> {
  const project = makeProjectFolder();
  const daemon = await startDaemon(options.program);
  const loop = new KillLoop(options, daemon, project.path);
  try {
    return await loop.run();
  } finally {
    loop.dispose();
    await daemon.dispose();
    project.dispose();
  }
}

class KillLoop {
  readonly #options: KillLoopOptions;
  readonly #daemon: Daemon;
  readonly #random: SeededRandom;
  readonly #ledger = new Ledger();
  readonly #moments: KillMoments;
  readonly #devices: FeedDevice[] = [];
  readonly #auditor: FeedDevice;
  readonly #load: Load;
  readonly #answers = new AnswerCheck();
  readonly #told: string[] = [];
  readonly #counts: KillCounts = {
    kills: 0,
    prompts: 0,
    acknowledged: 0,
    refused: 0,
    sentAgain: 0,
    reconnects: 0,
    interruptedTurns: 0,
    toolResults: 0,
    continued: 0,
    answersCompared: 0,
    oldestLostMs: 0,
  };
  #isLoaded = false;
  #isOver = false;

  constructor(options: KillLoopOptions, daemon: Daemon, workingDir: string) {
    this.#options = options;
    this.#daemon = daemon;
    this.#random = makeSeededRandom(options.seed);
    this.#moments = new KillMoments(this.#random);
    for (let number = 1; number <= DEVICES; number += 1) {
      this.#devices.push(this.#makeDevice(`device ${number}`, this.#moments.happened));
    }
    this.#auditor = this.#makeDevice("a device that starts over", () => {});
    this.#load = new Load(
      makeSeededRandom(options.seed + 1),
      this.#devices,
      this.#ledger,
      workingDir,
    );
  }

  async run(): Promise<KillCounts> {
    for (const device of [...this.#devices, this.#auditor]) {
      const link = await this.#daemon.launchLink();
      await device.enrol(link.replace(/^.*#enrol=/, ""));
    }
    void this.#work();
    while (this.#counts.kills < this.#options.kills) {
      this.#isLoaded = true;
      const interrupted = await this.#kill();
      await this.#daemon.restart();
      this.#isLoaded = false;
      await this.#judge(interrupted);
    }
    await this.#finish();
    this.#tally();
    return this.#counts;
  }

  dispose(): void {
    this.#isOver = true;
    for (const device of [...this.#devices, this.#auditor]) device.leave();
  }

  #makeDevice(name: string, happened: FeedDeviceOptions["happened"]): FeedDevice {
    const { origin } = this.#daemon;
    return new FeedDevice({ name, origin, ledger: this.#ledger, happened });
  }

  async #work(): Promise<void> {
    while (!this.#isOver) {
      if (this.#isLoaded) this.#load.step();
      await sleep(1 + this.#random.below(15));
    }
  }

  async #kill(): Promise<Interrupted> {
    const moment = await this.#moments.next();
    const killedAt = performance.now();
    await this.#daemon.kill();
    this.#counts.kills += 1;
    this.#tell(`kill ${this.#counts.kills} at ${moment}`);
    const interrupted = whatStreams(this.#devices, killedAt);
    this.#counts.interruptedTurns += interrupted.streams.size;
    checkDatabase(this.#daemon.dataDir, this.#ledger);
    // One that is just repairing what the last one left may be killed as well.
    while (this.#counts.kills < this.#options.kills && this.#random.oneIn(5)) {
      const afterMs = 30 + this.#random.below(400);
      await this.#daemon.restartAndKill(afterMs);
      this.#counts.kills += 1;
      this.#tell(`kill ${this.#counts.kills} ${afterMs} ms after its start`);
      checkDatabase(this.#daemon.dataDir, this.#ledger);
    }
    this.#check();
    return interrupted;
  }

  async #judge(interrupted: Interrupted): Promise<void> {
    await this.#agree(this.#random.oneIn(3));
    const { faults } = this.#ledger;
    checkKept(this.#ledger, this.#auditor);
    checkRepaired(this.#ledger, this.#auditor, interrupted);
    checkCommands(this.#ledger, this.#auditor);
    if (faults.length === 0) {
      const age = await checkTexts(this.#ledger, this.#auditor, interrupted);
      this.#counts.oldestLostMs = Math.max(this.#counts.oldestLostMs, Math.round(age));
      await this.#answers.run(this.#ledger, this.#auditor);
      await this.#sendAgain();
    }
    this.#check();
  }

  /** Everything that waited is answered, and all replicas stand where one stands that begins anew. */
  async #agree(isStopping: boolean): Promise<void> {
    const all = [...this.#devices, this.#auditor];
    this.#auditor.startOver();
    if (isStopping) this.#stopAll();
    const isAnswered = () => all.every(({ isCaughtUp, outbox }) => isCaughtUp && outbox.size === 0);
    await this.#until(isAnswered, "commands have no answer");
    // An answer may come before the page with what it led to.
    const head = await this.#head();
    const areEven = () =>
      isAnswered() &&
      this.#auditor.cursor >= head &&
      all.every(({ cursor }) => cursor === this.#auditor.cursor);
    await this.#until(areEven, "the devices do not catch up");
    for (const device of this.#devices) compareReplicas(this.#ledger, device, this.#auditor);
  }

  async #head(): Promise<number> {
    const metrics = await (await fetch(`${this.#daemon.origin}/metrics`)).text();
    return Number(/^troupe_feed_head (\d+)$/m.exec(metrics)?.[1]);
  }

  #stopAll(): void {
    const [device] = this.#devices;
    for (const sessionId of device?.sessionIds ?? [])
      device?.command("session.stop", { sessionId });
  }

  /** The same ids get the same answers, whoever brings them. */
  async #sendAgain(): Promise<void> {
    const answered = [...this.#ledger.answered.values()];
    for (let count = 0; count < Math.min(SENT_AGAIN, answered.length); count += 1) {
      // Those of the last moments above all.
      const back = this.#random.below(this.#random.pick([20, answered.length]));
      const command = answered[Math.max(0, answered.length - 1 - back)];
      const device = this.#devices[this.#random.below(DEVICES)];
      if (command === undefined || device === undefined) continue;
      device.command(command.method, command.params, command.commandId);
      this.#counts.sentAgain += 1;
    }
    const isAnswered = () => this.#devices.every(({ outbox }) => outbox.size === 0);
    await this.#until(isAnswered, "commands that were sent again have no answer");
  }

  /** What was interrupted can be continued, and comes to its end. */
  async #finish(): Promise<void> {
    await this.#agree(true);
    const [device] = this.#devices;
    if (device === undefined) return;
    await this.#until(() => !this.#isBusy(), "requests were stopped and run on");
    const asked = device.sessionIds.flatMap((sessionId) => {
      if (continueTarget(this.#requestsOf(sessionId)) === null) return [];
      return [device.command("session.continue", { sessionId })];
    });
    // First: a prompt that another device gets in before leaves nothing to continue.
    await this.#until(() => device.outbox.size === 0, "what was to be continued has no answer");
    for (const [index, sessionId] of device.sessionIds.entries()) {
      const text = PROMPTS[index % PROMPTS.length];
      device.command("session.prompt", { sessionId, text });
      this.#devices[1]?.command("session.prompt", { sessionId, text });
    }
    const answered = () =>
      this.#devices.every(({ outbox }) => outbox.size === 0) && !this.#isBusy();
    await this.#until(answered, "what was continued does not end");
    await this.#agree(false);
    for (const { commandId, params } of asked) {
      const state = this.#auditor.rows.get(`request ${params.sessionId} ${commandId}`);
      if (state?.kind === "request" && state.row.state === "done") this.#counts.continued += 1;
      else this.#ledger.accuse(`[F8] ${params.sessionId} could not be continued`);
    }
    checkKept(this.#ledger, this.#auditor);
    checkCommands(this.#ledger, this.#auditor);
    await this.#answers.run(this.#ledger, this.#auditor);
    this.#check();
  }

  #requestsOf(sessionId: string) {
    return [...(this.#devices[0]?.rows.values() ?? [])].flatMap((row) =>
      row.kind === "request" && row.sessionId === sessionId ? [row.row] : [],
    );
  }

  #isBusy(): boolean {
    return (this.#devices[0]?.sessionIds ?? []).some((id) => isBusy(this.#requestsOf(id)));
  }

  async #until(holds: () => boolean, otherwise: string): Promise<void> {
    const end = performance.now() + QUIET_MAX_MS;
    while (!holds()) {
      this.#check();
      if (performance.now() > end) {
        this.#ledger.accuse(otherwise);
        this.#check();
      }
      await sleep(POLL_MS);
    }
  }

  #tell(line: string): void {
    this.#told.push(line);
    this.#options.told?.(line);
  }

  #tally(): void {
    const { answered, refused, results } = this.#ledger;
    this.#counts.prompts = this.#load.prompts;
    this.#counts.acknowledged = answered.size;
    this.#counts.refused = refused.size;
    this.#counts.answersCompared = this.#answers.count;
    this.#counts.toolResults = results.size;
    this.#counts.reconnects = this.#devices.reduce((sum, each) => sum + each.reconnects, 0);
  }

  #check(): void {
    const { faults } = this.#ledger;
    if (faults.length === 0) return;
    throw new KillLoopFailure(
      `Seed ${this.#options.seed} broke:\n${faults.slice(0, 20).join("\n")}\n` +
        `The kills:\n${this.#told.join("\n")}\nThe daemon's log:\n${this.#daemon.log().slice(-4_000)}`,
    );
  }
}

/** For people, when it has gone well. */
export const inWords = (counts: KillCounts): string =>
  [
    `${counts.kills} kills, ${counts.acknowledged} commands acknowledged, 0 lost, 0 acted twice`,
    `${counts.refused} commands refused, ${counts.sentAgain} sent again after their answer`,
    `${counts.toolResults} tool results seen, 0 lost`,
    `${counts.interruptedTurns} turns interrupted; of what was seen of them, what came in the last ${counts.oldestLostMs} ms was lost at most`,
    `${counts.continued} sessions continued in the end, ${counts.answersCompared} whole answers compared`,
    `${counts.reconnects} reconnects, 0 resyncs`,
  ].join("\n");
