// Commands on their way (F5): on disk first, then sent in the order given, one at a time per session,
// again after a lost connection under the same id, and forgotten once the daemon has answered.

import { assertNever } from "../../shared/assert-never.ts";
import type { CommandId } from "../../shared/ids.ts";
import { type ErrorCode, Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import type { Clock } from "../clock.ts";
import type { OutboxEntry } from "./port.ts";
import type { OutboxStore } from "./replica.ts";

export type CommandOutcome =
  | { kind: "answered"; value: unknown }
  | { kind: "failed"; error: WireError };

export interface OutboxOptions {
  readonly store: OutboxStore;
  readonly clock: Clock;
  /** Rejects with a `Failure`. */
  readonly call: (method: CommandMethod, params: unknown, commandId: string) => Promise<unknown>;
  readonly isReady: () => boolean;
  readonly changed: (entries: OutboxEntry[]) => void;
  readonly settled: (commandId: CommandId, outcome: CommandOutcome) => void;
  /** A fault that no page waits to hear of. */
  readonly report: (error: unknown) => void;
}

type Command = Pick<OutboxEntry, "commandId" | "method" | "params">;

interface Held {
  readonly lane: string;
  entry: OutboxEntry;
  isStored: boolean;
  /** Storing it has ended, well or not: it may go. */
  isDue: boolean;
}

/** These say nothing about the command, only that it did not get through. */
const TRY_AGAIN: ReadonlySet<ErrorCode> = new Set([
  "not_connected",
  "shutting_down",
  "too_many_connections",
  "too_many_calls",
]);
const TRY_AGAIN_MS = 1_000;

export class Outbox {
  readonly #options: OutboxOptions;
  #held: Held[] = [];
  readonly #busyLanes = new Set<string>();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get entries(): OutboxEntry[] {
    return this.#held.map(({ entry }) => entry);
  }

  /** Takes up what an earlier worker left, or another beside this one, and lets go of what they settled. */
  async load(): Promise<void> {
    const stored = new Set(this.#held.filter(({ isStored }) => isStored));
    const found = await this.#options.store.outbox();
    const held = new Map(this.#held.map((one) => [one.entry.commandId, one]));
    const inOrder = found.map((entry) => held.get(entry.commandId) ?? hold(entry, true));
    const later = this.#held.filter((one) => !stored.has(one) && !inOrder.includes(one));
    this.#held = [...inOrder, ...later];
    this.#changed();
    this.flush();
  }

  /**
   * True: it will never be sent, and nobody is told how it ended. False: it was sent, or may have been
   * by another worker, or is not known.
   */
  async withdraw(commandId: CommandId): Promise<boolean> {
    const held = this.#held.find(({ entry }) => entry.commandId === commandId);
    if (held === undefined || held.entry.state === "sent") return false;
    const isOnDisk = held.isStored || !held.isDue;
    if (isOnDisk && !(await this.#options.store.withdrawOutbox(commandId))) return false;
    this.#remove(held);
    return true;
  }

  /** A command given twice is one command. */
  async add({ commandId, method, params }: Command): Promise<void> {
    if (this.#held.some(({ entry }) => entry.commandId === commandId)) return;
    const createdAt = this.#options.clock.now();
    const held = hold({ commandId, method, params, state: "waiting", createdAt }, false);
    this.#held.push(held);
    this.#changed();
    try {
      await this.#options.store.putOutbox(held.entry);
      held.isStored = true;
    } catch (error) {
      // A full disk must not eat what someone wrote: it waits in memory, and goes out all the same.
      this.#options.report(error);
    }
    held.isDue = true;
    this.flush();
  }

  /** Sends what waits and may go. */
  flush(): void {
    if (!this.#options.isReady()) return;
    const passed = new Set(this.#busyLanes);
    for (const held of [...this.#held]) {
      if (!passed.has(held.lane) && held.isDue) void this.#send(held);
      passed.add(held.lane);
    }
  }

  async #send(held: Held): Promise<void> {
    const { commandId, method, params } = held.entry;
    this.#busyLanes.add(held.lane);
    if (held.isStored && !(await this.#claim(commandId))) {
      this.#remove(held);
      this.#release(held);
      return;
    }
    // From here on it may have acted: it stays "sent" until it is answered, over any connection.
    held.entry = { ...held.entry, state: "sent" };
    this.#changed();
    const outcome = await this.#ask(method, params, commandId);
    switch (outcome.kind) {
      case "answered":
      case "failed":
        this.#remove(held);
        this.#settle(held, outcome);
        try {
          await this.#options.store.removeOutbox(commandId);
        } catch (error) {
          this.#options.report(error);
        }
        this.#release(held);
        return;
      case "unsent":
        if (this.#options.isReady()) {
          this.#options.clock.after(TRY_AGAIN_MS, () => this.#release(held));
        } else this.#release(held);
        return;
      default:
        assertNever(outcome);
    }
  }

  /** Where the claim itself cannot be stored, sending counts more than taking back. */
  async #claim(commandId: CommandId): Promise<boolean> {
    try {
      return await this.#options.store.claimOutbox(commandId);
    } catch (error) {
      this.#options.report(error);
      return true;
    }
  }

  async #ask(
    method: CommandMethod,
    params: unknown,
    commandId: CommandId,
  ): Promise<CommandOutcome | { kind: "unsent" }> {
    try {
      return { kind: "answered", value: await this.#options.call(method, params, commandId) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (TRY_AGAIN.has(error.wire.code)) return { kind: "unsent" };
      return { kind: "failed", error: error.wire };
    }
  }

  #release(held: Held): void {
    this.#busyLanes.delete(held.lane);
    this.flush();
  }

  #remove(held: Held): void {
    this.#held = this.#held.filter((other) => other !== held);
    this.#changed();
  }

  #settle(held: Held, outcome: CommandOutcome): void {
    this.#options.settled(held.entry.commandId, outcome);
  }

  #changed(): void {
    this.#options.changed(this.entries);
  }
}

const hold = (entry: OutboxEntry, isStored: boolean): Held => ({
  lane: laneOf(entry),
  entry,
  isStored,
  isDue: isStored,
});

/** Commands of one session follow each other, the one that creates it first; all others share a lane. */
function laneOf({ commandId, method, params }: OutboxEntry): string {
  if (method === "session.create") return commandId;
  const isOfSession = typeof params === "object" && params !== null && "sessionId" in params;
  return isOfSession ? String(params.sessionId) : "";
}
