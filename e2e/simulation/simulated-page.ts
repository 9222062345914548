// A page of a simulated device. It does with what it is told what the real one does, and looks whether
// it was told the truth: rows only grow newer, text has no gap and no repeat.

import { applyChanges, type PresentChange } from "../../shared/feed/apply-page.ts";
import type { CommandId, SessionId } from "../../shared/ids.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import type { RowKind, TextBody } from "../../shared/protocol/rows.ts";
import type { RenderInput } from "../../workers/render/port.ts";
import type {
  ConnectionState,
  OutboxEntry,
  PageMessage,
  SyncMessage,
} from "../../workers/sync/port.ts";
import type { Accuse } from "./witness.ts";

export type Answer = { kind: "value"; value: unknown } | { kind: "failure"; error: WireError };

export interface PageOptions {
  readonly name: string;
  readonly accept: (post: (message: SyncMessage) => void) => (message: PageMessage) => void;
  readonly enrolment: string | null;
  /** A text grew: is this what was said? */
  readonly shown: (key: string, text: string) => void;
  readonly accuse: Accuse;
}

export const rowKey = (kind: RowKind, sessionId: SessionId | null, id: string): string =>
  `${kind} ${sessionId} ${id}`;

export class SimulatedPage {
  readonly name: string;
  readonly rows = new Map<string, PresentChange>();
  /** Sessions that it has open, and whether all their rows from disk have come. */
  readonly open = new Map<SessionId, { isThere: boolean; hasEarlier: boolean }>();
  /** The texts that its renderer is being given. */
  readonly texts = new Map<string, string>();
  outbox: readonly OutboxEntry[] = [];
  state: ConnectionState | null = null;
  readonly #options: PageOptions;
  readonly #receive: (message: PageMessage) => void;
  readonly #asked = new Map<number, (answer: Answer) => void>();
  #lastId = 0;
  #isGone = false;

  constructor(options: PageOptions) {
    this.#options = options;
    this.name = options.name;
    this.#receive = options.accept((message) => {
      if (!this.#isGone) this.#told(structuredClone(message));
    });
    const { port1, port2 } = new MessageChannel();
    port2.close();
    port1.postMessage = (input: RenderInput) => {
      if (!this.#isGone) this.#render(input);
    };
    const { enrolment, name } = options;
    this.#receive({ type: "attach", renderPort: port1, enrolment, deviceName: name });
  }

  get sessionIds(): SessionId[] {
    return [...this.rows.values()].flatMap(({ kind, sessionId }) =>
      kind === "session" && sessionId !== null ? [sessionId] : [],
    );
  }

  openSession(sessionId: SessionId): void {
    this.open.set(sessionId, { isThere: false, hasEarlier: false });
    this.#receive({ type: "open", sessionId });
  }

  closeSession(sessionId: SessionId): void {
    this.open.delete(sessionId);
    this.#receive({ type: "close", sessionId });
    for (const key of this.texts.keys()) {
      if (key.startsWith(`${sessionId}/`)) this.texts.delete(key);
    }
  }

  wake(): void {
    this.#receive({ type: "wake" });
  }

  command(
    method: CommandMethod,
    params: unknown,
    given: { commandId: CommandId; answered: (answer: Answer) => void },
  ): void {
    this.#ask(given.answered, (id) => ({
      type: "command",
      id,
      commandId: given.commandId,
      method,
      params,
    }));
  }

  text(body: TextBody, answered: (answer: Answer) => void): void {
    this.#ask(answered, (id) => ({ type: "text", id, body }));
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

  #ask(answered: (answer: Answer) => void, message: (id: number) => PageMessage): void {
    this.#lastId += 1;
    this.#asked.set(this.#lastId, answered);
    this.#receive(message(this.#lastId));
  }

  #told(message: SyncMessage): void {
    switch (message.type) {
      case "connection":
        this.state = message.state;
        return;
      case "outbox":
        this.outbox = message.entries;
        return;
      case "opened": {
        const { sessionId, found, hasEarlier } = message;
        if (this.open.has(sessionId)) this.open.set(sessionId, { isThere: found, hasEarlier });
        return;
      }
      case "value":
        this.#answer(message.id, { kind: "value", value: message.value });
        return;
      case "failure":
        this.#answer(message.id, { kind: "failure", error: message.error });
        return;
      case "rows":
        this.#rows(message);
        return;
      case "live":
    }
  }

  #answer(id: number, answer: Answer): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) this.#accuse(`question ${id} was answered twice`);
    this.#asked.delete(id);
    asked?.(answer);
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
