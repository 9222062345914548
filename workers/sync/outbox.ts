// Commands on their way (F5): on disk first, then sent in the order given, one at a time per session,
// again after a lost connection under the same id, and forgotten once the daemon has answered. What it
// refused is kept if nobody may have heard of it, and always if it is a prompt: someone wrote that.

import { assertNever } from "../../shared/assert-never.ts";
import type { CommandId } from "../../shared/ids.ts";
import { type ErrorCode, Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import type { Clock } from "../clock.ts";
import { type MakeRoom, writeWithRoom } from "./ordered-writes.ts";
import type { OutboxEntry } from "./port.ts";
import { isOutOfRoom, type OutboxStore } from "./replica.ts";

export type CommandOutcome =
  | { kind: "answered"; value: unknown }
  | { kind: "failed"; error: WireError };

export interface OutboxOptions {
  readonly store: OutboxStore;
  readonly clock: Clock;
  /** Rejects with a `Failure`. */
  readonly call: (method: CommandMethod, params: unknown, commandId: string) => Promise<unknown>;
  readonly isReady: () => boolean;
  readonly makeRoom: MakeRoom;
  /** A page waits to hear how it ends. */
  readonly isAwaited: (commandId: CommandId) => boolean;
  readonly changed: (entries: OutboxEntry[]) => void;
  readonly settled: (commandId: CommandId, outcome: CommandOutcome) => void;
  /** A fault that no page waits to hear of. */
  readonly report: (error: unknown) => void;
}

/** `isAgain`: it was given to another worker before. */
type Command = Pick<OutboxEntry, "commandId" | "method" | "params"> & { isAgain?: true };

interface Held {
  readonly lane: string;
  entry: OutboxEntry;
  isStored: boolean;
  /** What it is now could not be stored, when that was tried. */
  isUnsaved: boolean;
  isSending: boolean;
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
  /** By lane: why the daemon did not make the session that what follows in the lane is for. */
  readonly #unmade = new Map<string, WireError>();
  /** Entries are put in the order given, however often one has to be tried. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  get entries(): OutboxEntry[] {
    return this.#held.map(({ entry }) => entry);
  }

  /** Takes up what an earlier worker left, or another beside this one, and lets go of what they settled. */
  async load(): Promise<void> {
    const stored = new Set(this.#held.filter(({ isStored }) => isStored));
    const found = await this.#inTurn(() => this.#options.store.outbox());
    const held = new Map(this.#held.map((one) => [one.entry.commandId, one]));
    const inOrder = found.map((entry) => {
      const known = held.get(entry.commandId);
      if (known === undefined) return hold(entry, true);
      // Another worker may have amended it, or been refused.
      if (!known.isSending && known.entry.state !== "refused") known.entry = entry;
      return known;
    });
    const later = this.#held.filter((one) => !stored.has(one) && !inOrder.includes(one));
    this.#held = [...inOrder, ...later];
    for (const one of this.#held) if (one.isUnsaved && !one.isSending) this.#saveLate(one);
    this.#changed();
    this.flush();
  }

  /**
   * True: it will never be sent, and nobody is told how it ended; or it was refused and is forgotten. False:
   * it was sent, or may have been by another worker, or is not known.
   */
  withdraw(commandId: CommandId): Promise<boolean> {
    return this.#change(commandId, async (held, store) => {
      if (held.entry.state === "refused") await store.removeOutbox(commandId);
      else if (held.isStored && !(await store.withdrawOutbox(commandId))) return false;
      this.#remove(held);
      return true;
    });
  }

  /** True: it will be sent with these params. False, with nothing changed: as with `withdraw`, or it was refused. */
  amend(commandId: CommandId, params: unknown): Promise<boolean> {
    return this.#change(commandId, async (held, store) => {
      if (held.entry.state !== "waiting") return false;
      if (held.isStored) {
        const amend = () => store.amendOutbox(commandId, params);
        if (!(await this.#withRoom(amend))) return false;
      }
      held.entry = { ...held.entry, params };
      this.#changed();
      return true;
    });
  }

  /** Once it is known whether the entry is on disk. */
  #change(
    commandId: CommandId,
    change: (held: Held, store: OutboxStore) => Promise<boolean>,
  ): Promise<boolean> {
    return this.#inTurn(async () => {
      const held = this.#held.find(({ entry }) => entry.commandId === commandId);
      if (held === undefined || held.isSending || held.entry.state === "sent") return false;
      return change(held, this.#options.store);
    });
  }

  /** A command given twice is one command. One that may have been sent, and settled, counts as sent. */
  async add({ commandId, method, params, isAgain }: Command): Promise<void> {
    if (isAgain) await this.load().catch(this.#options.report);
    const known = this.#held.find(({ entry }) => entry.commandId === commandId);
    if (known !== undefined) {
      this.#tellAgain(known);
      return;
    }
    const createdAt = this.#options.clock.now();
    const state = isAgain ? "sent" : "waiting";
    const held = hold({ commandId, method, params, state, createdAt }, false);
    this.#held.push(held);
    this.#changed();
    try {
      await this.#save(held);
    } catch (error) {
      // A full disk must not eat what someone wrote: it waits in memory, and goes out all the same.
      this.#options.report(error);
    }
    held.isDue = true;
    this.flush();
  }

  /** Who asks for what was refused meanwhile hears of it now; only a prompt is kept for longer. */
  #tellAgain(held: Held): void {
    const { entry } = held;
    if (entry.state !== "refused") return;
    const outcome = { kind: "failed", error: entry.error } as const;
    if (entry.method === "session.prompt") this.#options.settled(entry.commandId, outcome);
    else void this.#forget(held, outcome);
  }

  /** Sends what waits and may go. */
  flush(): void {
    if (!this.#options.isReady()) return;
    const passed = new Set(this.#busyLanes);
    for (const held of [...this.#held]) {
      if (held.entry.state === "refused") continue;
      if (!passed.has(held.lane) && held.isDue) void this.#send(held);
      passed.add(held.lane);
    }
  }

  async #send(held: Held): Promise<void> {
    this.#busyLanes.add(held.lane);
    held.isSending = true;
    const claimed = held.isStored ? await this.#claim(held.entry) : held.entry;
    if (claimed === null) {
      this.#remove(held);
      this.#release(held);
      return;
    }
    // From here on it may have acted: it stays "sent" until it is answered, over any connection.
    held.entry = { ...claimed, state: "sent" };
    this.#changed();
    const outcome = await this.#ask(held.entry);
    switch (outcome.kind) {
      case "answered":
        await this.#forget(held, outcome);
        this.#release(held);
        return;
      case "failed":
        if (held.entry.method === "session.create") this.#unmade.set(held.lane, outcome.error);
        if (this.#isKept(held.entry)) await this.#refuse(held, this.#cause(held, outcome.error));
        else await this.#forget(held, outcome);
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

  async #forget(held: Held, outcome: CommandOutcome): Promise<void> {
    const { commandId } = held.entry;
    this.#remove(held);
    this.#options.settled(commandId, outcome);
    try {
      await this.#inTurn(() => this.#options.store.removeOutbox(commandId));
    } catch (error) {
      this.#options.report(error);
    }
  }

  #isKept({ method, commandId }: OutboxEntry): boolean {
    return method === "session.prompt" || !this.#options.isAwaited(commandId);
  }

  /** A session that never was made cannot be gone. */
  #cause({ lane }: Held, error: WireError): WireError {
    return error.code === "session_gone" ? (this.#unmade.get(lane) ?? error) : error;
  }

  /** If that cannot be stored, the next worker sends it again, and is refused again. */
  async #refuse(held: Held, error: WireError): Promise<void> {
    held.entry = { ...held.entry, state: "refused", error };
    this.#changed();
    this.#options.settled(held.entry.commandId, { kind: "failed", error });
    try {
      await this.#save(held);
    } catch (fault) {
      this.#options.report(fault);
    }
  }

  #save(held: Held): Promise<void> {
    return this.#inTurn(async () => {
      // Withdrawn while this waited its turn: on disk it would come back.
      if (!this.#held.includes(held)) return;
      held.isUnsaved = true;
      await this.#withRoom(() => this.#options.store.putOutbox(held.entry));
      held.isUnsaved = false;
      held.isStored = true;
    });
  }

  /** There may be room by now. That there was none has been reported. */
  #saveLate(held: Held): void {
    this.#save(held).catch((error: unknown) => {
      if (!isOutOfRoom(error)) this.#options.report(error);
    });
  }

  #withRoom<T>(write: () => Promise<T>): Promise<T> {
    return writeWithRoom(write, { makeRoom: this.#options.makeRoom, otherwise: null });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const working = this.#lastWrite.then(work);
    this.#lastWrite = working.catch(() => {}); // Its caller hears of it.
    return working;
  }

  /** Where the claim itself cannot be stored, sending counts more than taking back. */
  async #claim(entry: OutboxEntry): Promise<OutboxEntry | null> {
    try {
      return await this.#withRoom(() => this.#options.store.claimOutbox(entry.commandId));
    } catch (error) {
      this.#options.report(error);
      return entry;
    }
  }

  async #ask({
    method,
    params,
    commandId,
  }: OutboxEntry): Promise<CommandOutcome | { kind: "unsent" }> {
    try {
      return { kind: "answered", value: await this.#options.call(method, params, commandId) };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (TRY_AGAIN.has(error.wire.code)) return { kind: "unsent" };
      return { kind: "failed", error: error.wire };
    }
  }

  #release(held: Held): void {
    held.isSending = false;
    this.#busyLanes.delete(held.lane);
    this.flush();
  }

  #remove(held: Held): void {
    this.#held = this.#held.filter((other) => other !== held);
    this.#changed();
  }

  #changed(): void {
    this.#options.changed(this.entries);
  }
}

const hold = (entry: OutboxEntry, isStored: boolean): Held => ({
  lane: laneOf(entry),
  entry,
  isStored,
  isUnsaved: false,
  isSending: false,
  isDue: isStored,
});

/** Commands of one session follow each other, the one that creates it first; all others share a lane. */
function laneOf({ commandId, method, params }: OutboxEntry): string {
  if (method === "session.create") return commandId;
  const isOfSession = typeof params === "object" && params !== null && "sessionId" in params;
  return isOfSession ? String(params.sessionId) : "";
}
