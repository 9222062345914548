// What the devices of the kill loop do all the while, chosen by the seed.

import type { SeededRandom } from "../../server/testing/seeded-random.ts";
import type { SessionId } from "../../shared/ids.ts";
import type { FeedDevice } from "./feed-device.ts";
import type { Ledger } from "./ledger.ts";

const SESSIONS_MAX = 6;
const WAITING_MAX = 3;
/** Each has the same answer, in the same number of turns, whenever it is asked. */
export const PROMPTS = [
  "read LONG.md",
  "thanks",
  "read LONG.md lines 1-300",
  "how many lines of code",
  "find TODO",
  "list src",
  "read src/shop.ts",
] as const;

export class Load {
  prompts = 0;
  readonly #random: SeededRandom;
  readonly #devices: readonly FeedDevice[];
  readonly #ledger: Ledger;
  readonly #workingDir: string;
  /** Who names a session: one device only, so that its last name is known. */
  readonly #owners = new Map<SessionId, FeedDevice>();
  #number = 0;

  constructor(
    random: SeededRandom,
    devices: readonly FeedDevice[],
    ledger: Ledger,
    workingDir: string,
  ) {
    this.#random = random;
    this.#devices = devices;
    this.#ledger = ledger;
    this.#workingDir = workingDir;
  }

  /** Has one device do one thing, if it can. */
  step(): void {
    const device = this.#devices[this.#random.below(this.#devices.length)];
    if (device === undefined) return;
    const sessionIds = device.sessionIds.filter((id) => !this.#ledger.deleted.has(id));
    const sessionId = sessionIds[this.#random.below(sessionIds.length)];
    if (sessionId === undefined || (sessionIds.length < SESSIONS_MAX && this.#random.oneIn(6))) {
      this.#create(device);
      return;
    }
    this.#act(device, sessionId);
  }

  #create(device: FeedDevice): void {
    if (this.#owners.size - this.#ledger.deleted.size >= SESSIONS_MAX) return;
    const params = { workingDir: this.#workingDir, title: this.#freshTitle() };
    const command = device.command("session.create", params);
    // A session has the id of the command that makes it; prompts may follow at once.
    const sessionId = command.commandId as SessionId;
    this.#owners.set(sessionId, device);
    this.#ledger.titles.set(sessionId, [command]);
    this.#prompt(device, sessionId);
    for (const each of this.#devices) each.watch(sessionId);
  }

  #act(device: FeedDevice, sessionId: SessionId): void {
    const choice = this.#random.below(40);
    if (choice < 14) {
      if (this.#waiting(device, sessionId) < WAITING_MAX) this.#prompt(device, sessionId);
    } else if (choice < 18) device.command("session.continue", { sessionId });
    else if (choice < 24) device.command("session.undo", { sessionId });
    else if (choice < 28) device.command("session.redo", { sessionId });
    else if (choice < 33) device.command("session.stop", { sessionId });
    else if (choice < 37) this.#rename(sessionId);
    else if (choice < 39) {
      device.command("session.archive", { sessionId, archived: this.#random.oneIn(2) });
    } else if (this.#random.oneIn(3)) device.command("session.delete", { sessionId });
  }

  #prompt(device: FeedDevice, sessionId: SessionId): void {
    this.prompts += 1;
    device.command("session.prompt", { sessionId, text: this.#random.pick(PROMPTS) });
  }

  #rename(sessionId: SessionId): void {
    const owner = this.#owners.get(sessionId);
    const command = owner?.command("session.rename", { sessionId, title: this.#freshTitle() });
    if (command !== undefined) this.#ledger.titles.get(sessionId)?.push(command);
  }

  #freshTitle(): string {
    this.#number += 1;
    return `Title ${this.#number}`;
  }

  #waiting(device: FeedDevice, sessionId: SessionId): number {
    return [...device.rows.values()].filter(
      (row) =>
        row.kind === "request" &&
        row.sessionId === sessionId &&
        (row.row.state === "queued" || row.row.state === "running"),
    ).length;
  }
}
