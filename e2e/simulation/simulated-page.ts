// A page of a simulated device. It does with what it is told what the real one does, and looks whether
// it was told the truth: rows only grow newer, text has no gap and no repeat.

import { assertNever } from "../../shared/assert-never.ts";
import { applyChanges, type PresentChange } from "../../shared/feed/apply-page.ts";
import { type CommandId, type DeviceId, fromBase64Url, type SessionId } from "../../shared/ids.ts";
import { Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { CommandMethod, Params } from "../../shared/protocol/methods.ts";
import type { RowKind } from "../../shared/protocol/rows.ts";
import type { RenderInput } from "../../workers/render/port.ts";
import type {
  ConnectionState,
  Enrolment,
  OutboxEntry,
  PageMessage,
  SyncMessage,
} from "../../workers/sync/port.ts";
import { type SyncEvent, SyncProxy } from "../../workers/sync/proxy.ts";
import type { Accuse } from "./witness.ts";

export type Answer = { kind: "value"; value: unknown } | { kind: "failure"; error: WireError };

export interface PageOptions {
  readonly name: string;
  readonly accept: (post: (message: SyncMessage) => void) => (message: PageMessage) => void;
  readonly enrolment: Enrolment | null;
  /** The daemon turned it away for being too far behind. */
  readonly evicted: () => void;
  /** A text grew: is this what was said? */
  readonly shown: (key: string, text: string) => void;
  readonly accuse: Accuse;
}

interface OpenSession {
  readonly isThere: boolean;
  readonly isWhole: boolean;
  readonly hasEarlier: boolean;
}

type Accept = PageOptions["accept"];

export const rowKey = (kind: RowKind, sessionId: SessionId | null, id: string): string =>
  `${kind} ${sessionId} ${id}`;

export class SimulatedPage {
  readonly name: string;
  readonly rows = new Map<string, PresentChange>();
  /** Sessions that it has open, and whether all their rows from disk have come. */
  readonly open = new Map<SessionId, OpenSession>();
  /** The texts that its renderer is being given. */
  readonly texts = new Map<string, string>();
  /** The other devices that look at sessions which are open here. */
  readonly lookers = new Map<SessionId, readonly DeviceId[]>();
  outbox: readonly OutboxEntry[] = [];
  state: ConnectionState | null = null;
  /** What someone sees here. */
  seen: SessionId | null = null;
  readonly #options: PageOptions;
  readonly #proxy: SyncProxy;
  #receive: (message: PageMessage) => void = () => {};
  /** What the proxy takes for random. */
  #idBytes: Uint8Array = new Uint8Array(0);
  #isGone = false;
  /** Worker after worker. */
  #worker = 0;
  #hadSuccessor = false;

  constructor(options: PageOptions) {
    this.#options = options;
    this.name = options.name;
    const end = { postMessage: (message: PageMessage) => this.#receive(message) };
    const succeeded = () => this.#succeeded();
    this.#proxy = new SyncProxy(end, () => this.#idBytes, { alive: () => {}, succeeded });
    this.#proxy.listen((event) => this.#told(event));
    this.#start(options.accept);
    this.#attach(options.enrolment);
  }

  /** Its worker has ended, and another takes its place. */
  moveTo(accept: Accept): void {
    this.#start(accept);
    this.#succeeded();
  }

  #start(accept: Accept): void {
    this.#worker += 1;
    const worker = this.#worker;
    this.#receive = accept((message) => {
      if (this.#isGone || worker !== this.#worker) return;
      this.#proxy.receive(structuredClone(message));
    });
  }

  #attach(enrolment: Enrolment | null): void {
    const worker = this.#worker;
    const renderPort = {
      postMessage: (input: RenderInput) => {
        if (!this.#isGone && worker === this.#worker) this.#render(input);
      },
      close: () => {},
    };
    this.#receive({ type: "attach", renderPort, enrolment, deviceName: this.name });
  }

  /** Another engine than before serves it, which knows nothing of it. */
  #succeeded(): void {
    this.#hadSuccessor = true;
    this.#attach(null);
    for (const sessionId of this.open.keys()) this.#receive({ type: "open", sessionId });
    if (this.seen !== null) this.#receive({ type: "look", sessionId: this.seen });
    this.#proxy.askAgain();
  }

  get sessionIds(): SessionId[] {
    return [...this.rows.values()].flatMap(({ kind, sessionId }) =>
      kind === "session" && sessionId !== null ? [sessionId] : [],
    );
  }

  /** By the daemon: nothing is wrong with the storage. */
  get isTurnedAway(): boolean {
    return this.state?.kind === "refused" && this.state.error.code !== "storage_failed";
  }

  openSession(sessionId: SessionId): void {
    this.open.set(sessionId, { isThere: false, isWhole: false, hasEarlier: false });
    this.#receive({ type: "open", sessionId });
  }

  closeSession(sessionId: SessionId): void {
    this.open.delete(sessionId);
    this.lookers.delete(sessionId);
    this.#receive({ type: "close", sessionId });
    for (const key of this.texts.keys()) {
      if (key.startsWith(`${sessionId}/`)) this.texts.delete(key);
    }
  }

  earlier(sessionId: SessionId): void {
    this.#receive({ type: "earlier", sessionId });
  }

  look(sessionId: SessionId | null): void {
    this.seen = sessionId;
    this.#receive({ type: "look", sessionId });
  }

  enrol(enrolment: Enrolment): void {
    this.#receive({ type: "enrol", enrolment });
  }

  keepDays(days: number | null): void {
    this.#settle(this.#proxy.keepDays(days), () => {});
  }

  amend(commandId: CommandId, params: unknown, amended: () => void): void {
    this.#settle(this.#proxy.amend(commandId, params), ({ kind, ...answer }) => {
      if (kind === "value" && "value" in answer && answer.value === true) amended();
    });
  }

  withdraw(commandId: CommandId, withdrawn: () => void): void {
    this.#settle(this.#proxy.withdraw(commandId), ({ kind, ...answer }) => {
      if (kind === "value" && "value" in answer && answer.value === true) withdrawn();
    });
  }

  wake(): void {
    this.#receive({ type: "wake" });
  }

  command(
    method: CommandMethod,
    params: Record<string, unknown>,
    given: { commandId: CommandId; answered: (answer: Answer) => void },
  ): void {
    this.#idBytes = fromBase64Url(given.commandId) ?? this.#idBytes;
    // What the simulation sends is for the daemon to check.
    const { answer } = this.#proxy.command(method, params as Params<CommandMethod>);
    this.#settle(answer, given.answered);
  }

  /** The page closes in order. */
  leave(): void {
    this.#receive({ type: "detach" });
    this.#isGone = true;
  }

  /** Its worker has died, and it with it. */
  die(): void {
    this.#isGone = true;
  }

  #settle(asking: Promise<unknown>, answered: (answer: Answer) => void): void {
    asking.then(
      (value) => answered({ kind: "value", value }),
      (failure: unknown) => {
        if (failure instanceof Failure) answered({ kind: "failure", error: failure.wire });
        else this.#accuse(`a question met a bug: ${String(failure)}`);
      },
    );
  }

  #told(message: SyncEvent): void {
    switch (message.type) {
      case "connection":
        this.state = message.state;
        if (message.state.kind === "offline" && message.state.because === "evicted") {
          this.#options.evicted();
        }
        return;
      case "outbox":
        this.outbox = message.entries;
        return;
      case "opened": {
        const { sessionId, found: isThere, isWhole, hasEarlier } = message;
        if (this.open.has(sessionId)) this.open.set(sessionId, { isThere, isWhole, hasEarlier });
        return;
      }
      case "rows":
        this.#rows(message);
        return;
      case "live":
        if (message.event.type === "session.lookers" && this.open.has(message.sessionId)) {
          this.lookers.set(message.sessionId, message.event.deviceIds);
        }
        return;
      default:
        assertNever(message);
    }
  }

  #rows({ changes, reset }: Extract<SyncMessage, { type: "rows" }>): void {
    if (reset) this.rows.clear();
    applyChanges(
      {
        knownRev: (kind, sessionId, id) => this.rows.get(rowKey(kind, sessionId, id))?.rev ?? 0,
        put: (change) =>
          void this.rows.set(rowKey(change.kind, change.sessionId, change.id), change),
        remove: (kind, sessionId, id) => void this.rows.delete(rowKey(kind, sessionId, id)),
        removeSession: (sessionId) => {
          for (const [key, change] of this.rows) {
            if (change.sessionId === sessionId) this.rows.delete(key);
          }
        },
      },
      changes,
    );
    if (this.#hadSuccessor) this.#settleTexts();
  }

  /** Nobody tells it of an end that came while no engine served it: its rows do. */
  #settleTexts(): void {
    for (const key of this.texts.keys()) {
      const [sessionId = "", turnId = ""] = key.split("/");
      const turn = this.rows.get(`turn ${sessionId} ${turnId}`);
      const isGone = !this.rows.has(`session ${sessionId} ${sessionId}`);
      const isEnded =
        turn?.kind === "turn" && turn.row.state !== "streaming" && turn.row.state !== "calling";
      if (isGone || isEnded) this.texts.delete(key);
    }
  }

  /** What `RenderedDocument` makes of it: a repeat is ignored, after an end a text starts anew. */
  #render(input: RenderInput): void {
    if (input.type === "end") {
      this.texts.delete(input.key);
      return;
    }
    const held = this.texts.get(input.key) ?? "";
    if (input.offset > held.length) {
      this.#accuse(`[S2] a gap in ${input.key}: ${input.offset} after ${held.length}`);
    }
    if (!input.text.startsWith(held.slice(input.offset, input.offset + input.text.length))) {
      this.#accuse(`[S2] ${input.key} was said differently before ${held.length}`);
    }
    const text = held + input.text.slice(held.length - input.offset);
    this.texts.set(input.key, text);
    this.#options.shown(input.key, text);
  }

  #accuse(what: string): void {
    this.#options.accuse(`${this.name}: ${what}`);
  }
}
