// A device of the kill loop: a replica and an outbox that outlive every daemon, a connection that comes
// back from its cursor, and the texts it sees grow.

import { setTimeout as sleep } from "node:timers/promises";
import {
  fetchDaemonKey,
  freshId,
  makeDeviceKeys,
  openWire,
  type Wire,
} from "../../server/testing/wire-client.ts";
import { applyChanges, type PresentChange } from "../../shared/feed/apply-page.ts";
import type { SessionId } from "../../shared/ids.ts";
import type { LiveEvent } from "../../shared/protocol/live-events.ts";
import { type DaemonMessage, daemonMessageSchema } from "../../shared/protocol/messages.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import { type Command, keyOf, type Ledger, type SeenText } from "./ledger.ts";

type Message<T extends DaemonMessage["type"]> = Extract<DaemonMessage, { type: T }>;
type Chunk = Extract<LiveEvent, { type: "turn.chunk" }>;
/** What a moment to kill may be chosen by. */
export type Happening = "page" | "chunk" | "tool" | "answer" | "command";

const RETRY_MS = 15;

export interface FeedDeviceOptions {
  readonly name: string;
  readonly origin: string;
  readonly ledger: Ledger;
  readonly happened: (what: Happening) => void;
}

interface Asked {
  readonly command: Command | null;
  readonly settle: (value: unknown) => void;
  readonly fail: (error: Error) => void;
}

export class FeedDevice {
  readonly name: string;
  readonly rows = new Map<string, PresentChange>();
  readonly outbox = new Map<string, Command>();
  /** By session, turn and part. */
  readonly texts = new Map<string, SeenText>();
  cursor = 0;
  reconnects = 0;
  readonly #options: FeedDeviceOptions;
  readonly #keys = makeDeviceKeys();
  readonly #watched = new Set<SessionId>();
  readonly #asked = new Map<number, Asked>();
  #epoch: string | null = null;
  #token: string | null = null;
  #wire: Wire | null = null;
  #isWelcomed = false;
  #isCaughtUp = false;
  #lastCall = 0;
  #isOver = false;
  #daemonKey: Uint8Array | null = null;

  constructor(options: FeedDeviceOptions) {
    this.#options = options;
    this.name = options.name;
  }

  get isCaughtUp(): boolean {
    return this.#isWelcomed && this.#isCaughtUp;
  }

  get sessionIds(): SessionId[] {
    return [...this.rows.values()].flatMap((row) =>
      row.kind === "session" ? [row.sessionId] : [],
    );
  }

  /** Lets the device in. From then on it connects again whenever it was cut off. */
  async enrol(secret: string): Promise<void> {
    await this.#connect({ kind: "launch", secret });
    void this.#stayConnected();
  }

  /** Stored first, sent then, and again on every connection until there is an answer (F5). */
  command(method: CommandMethod, params: Command["params"], commandId = freshId()): Command {
    const command = { commandId, method, params };
    this.outbox.set(commandId, command);
    if (this.#isWelcomed) this.#send(command);
    return command;
  }

  /** Rejects when the connection ends first. */
  query(method: string, params: unknown): Promise<unknown> {
    return new Promise((settle, fail) => {
      this.#call(method, params, { command: null, settle, fail });
    });
  }

  watch(sessionId: SessionId): void {
    this.#watched.add(sessionId);
    if (this.#isWelcomed) this.#sendWatch(sessionId);
  }

  /** Forgets all rows and reads the feed from its beginning, as a fresh device would. */
  startOver(): void {
    this.rows.clear();
    this.#token = null;
    this.#epoch = null;
    this.cursor = 0;
    this.#isWelcomed = false;
    this.#wire?.cut();
  }

  leave(): void {
    this.#isOver = true;
    this.#wire?.cut();
  }

  async #stayConnected(): Promise<void> {
    while (!this.#isOver) {
      await this.#lost();
      while (!this.#isOver && this.#wire === null) {
        try {
          await this.#connect(null);
          this.reconnects += 1;
        } catch {
          // The daemon is down: it is tried until it is back.
          await sleep(RETRY_MS);
        }
      }
    }
  }

  async #lost(): Promise<void> {
    const wrong = await this.#wire?.ended;
    this.#wire = null;
    this.#isWelcomed = false;
    this.#isCaughtUp = false;
    for (const { fail } of this.#asked.values()) fail(new Error("The connection ended"));
    this.#asked.clear();
    if (wrong instanceof Error) this.#accuse(`could not read a message: ${wrong.message}`);
  }

  async #connect(enrolment: { kind: "launch"; secret: string } | null): Promise<void> {
    const { origin, name } = this.#options;
    this.#daemonKey ??= await fetchDaemonKey(origin);
    this.#wire = await openWire({
      origin,
      daemonKey: this.#daemonKey,
      keys: this.#keys,
      deviceName: name,
      enrolment,
      hear: (message) => this.#hear(daemonMessageSchema.parse(message)),
    });
    this.#wire.send({
      type: "hello",
      epoch: this.#epoch,
      cursor: this.cursor,
      token: this.#token,
      scope: { days: null, except: [] },
      packings: ["deflate-raw"],
    });
  }

  #hear(message: DaemonMessage): void {
    switch (message.type) {
      case "welcome":
        this.#welcomed(message);
        return;
      case "page":
        this.#page(message);
        return;
      case "live":
        if (message.event.type === "turn.chunk") this.#chunk(message.sessionId, message.event);
        if (message.event.type === "tool.started") this.#options.happened("tool");
        return;
      case "result":
        this.#answered(message.id, ({ settle }) => settle(message.value));
        return;
      case "failure":
        this.#failed(message);
        return;
      default:
    }
  }

  #welcomed({ epoch, head, resync }: Message<"welcome">): void {
    if (resync) this.#accuse("[F4] was told to start over, though nothing was restored");
    if (head < this.cursor) this.#accuse(`[F3] is at ${this.cursor}, the daemon only at ${head}`);
    this.#epoch = epoch;
    this.#isWelcomed = true;
    this.#isCaughtUp = head === this.cursor;
    for (const sessionId of this.#watched) this.#sendWatch(sessionId);
    for (const command of this.outbox.values()) this.#send(command);
  }

  /** F2: rows and cursor move together, then the ack. */
  #page({ changes, upto, token, more }: Message<"page">): void {
    let last = this.cursor;
    for (const change of changes) {
      if (change.rev <= last) this.#accuse(`[F6] rev ${change.rev} came after ${last}`);
      last = change.rev;
    }
    applyChanges(this.#target, changes);
    for (const change of changes) this.#options.ledger.stored(change);
    this.cursor = upto;
    this.#token = token;
    this.#isCaughtUp = more === 0;
    this.#wire?.send({ type: "ack", cursor: upto, token });
    this.#options.happened("page");
  }

  readonly #target = {
    knownRev: (kind: Change["kind"], sessionId: SessionId | null, id: string): number =>
      this.rows.get(keyOf({ kind, sessionId, id }))?.rev ?? 0,
    put: (change: PresentChange): void => void this.rows.set(keyOf(change), change),
    remove: (kind: Change["kind"], sessionId: SessionId | null, id: string): void =>
      void this.rows.delete(keyOf({ kind, sessionId, id })),
    removeSession: (sessionId: SessionId): void => {
      this.#watched.delete(sessionId);
      for (const [key, row] of this.rows) if (row.sessionId === sessionId) this.rows.delete(key);
    },
  };

  #chunk(sessionId: SessionId, { turnId, part, offset, text }: Chunk): void {
    const key = `${sessionId}/${turnId}/${part}`;
    const seen = this.texts.get(key) ?? { text: "", marks: [] };
    if (offset > seen.text.length) {
      this.#accuse(`[S2] a gap in ${key}: ${offset} after ${seen.text.length}`);
      return;
    }
    if (!text.startsWith(seen.text.slice(offset, offset + text.length))) {
      this.#accuse(`[S2] ${key} at ${offset} was said differently before`);
    }
    seen.text += text.slice(seen.text.length - offset);
    seen.marks.push({ at: performance.now(), length: seen.text.length });
    this.texts.set(key, seen);
    this.#options.happened("chunk");
  }

  #sendWatch(sessionId: SessionId): void {
    const running = [...this.rows.values()].findLast(
      (row) => row.kind === "turn" && row.sessionId === sessionId && row.row.state === "streaming",
    );
    const offsets: Record<string, number> = {};
    for (const [key, { text }] of this.texts) {
      const [session, turn, part = ""] = key.split("/");
      if (session === sessionId && turn === running?.id) offsets[part] = text.length;
    }
    const at = running === undefined ? null : { turnId: Number(running.id), offsets };
    this.#wire?.send({ type: "watch", sessionId, at });
  }

  #send(command: Command): void {
    this.#options.happened("command");
    this.#call(command.method, command.params, {
      command,
      settle: (value) => {
        this.outbox.delete(command.commandId);
        this.#options.ledger.answer(command, value);
        this.#options.happened("answer");
      },
      fail: () => {
        // It stays in the outbox, and is sent on the next connection.
      },
    });
  }

  #call(method: string, params: unknown, asked: Asked): void {
    this.#lastCall += 1;
    const commandId = asked.command?.commandId ?? null;
    this.#asked.set(this.#lastCall, asked);
    this.#wire?.send({ type: "call", id: this.#lastCall, commandId, method, params });
  }

  #failed({ id, error }: Message<"failure">): void {
    if (id === null) {
      this.#accuse(`was told of a failure: ${error.message}`);
      return;
    }
    this.#answered(id, ({ command, fail }) => {
      if (command === null) fail(new Error(error.message));
      else if (error.code !== "too_many_calls") {
        this.outbox.delete(command.commandId);
        this.#options.ledger.refuse(command, error.code);
      }
    });
  }

  #answered(id: number, take: (asked: Asked) => void): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) {
      this.#accuse(`[M1] call ${id} was answered twice`);
      return;
    }
    this.#asked.delete(id);
    take(asked);
  }

  #accuse(what: string): void {
    this.#options.ledger.accuse(`${this.name} ${what}`);
  }
}
