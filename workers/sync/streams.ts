// The texts of running turns in the sessions that are open somewhere: held by offset, so that a page
// that joins late starts warm and a reconnect asks only for what is missing.

import type { SessionId } from "../../shared/ids.ts";
import type { LiveEvent, Part, WatchPosition } from "../../shared/protocol/live-events.ts";
import type { ClientMessage } from "../../shared/protocol/messages.ts";
import type { Change, TurnRow } from "../../shared/protocol/rows.ts";
import type { RenderInput } from "../render/port.ts";

export type Chunk = Extract<LiveEvent, { type: "turn.chunk" }>;

interface HeldText {
  readonly pieces: string[];
  length: number;
}

type TurnTexts = Map<Part, HeldText>;

export interface StreamsOptions {
  readonly send: (message: ClientMessage) => boolean;
  /** To the renderers of the pages that have the session open. */
  readonly forward: (sessionId: SessionId, input: RenderInput) => void;
}

export class Streams {
  readonly #options: StreamsOptions;
  readonly #sessions = new Map<SessionId, Map<number, TurnTexts>>();
  /** Sessions watched anew because of a gap, until a chunk fits again. */
  readonly #mending = new Set<SessionId>();

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  watch(sessionId: SessionId): void {
    if (this.#sessions.has(sessionId)) return;
    this.#sessions.set(sessionId, new Map());
    this.#sendWatch(sessionId);
  }

  unwatch(sessionId: SessionId): void {
    if (!this.#sessions.delete(sessionId)) return;
    this.#mending.delete(sessionId);
    this.#options.send({ type: "unwatch", sessionId });
  }

  /** There is a connection: it has to be told what to watch, from where. */
  ready(): void {
    this.#mending.clear();
    for (const sessionId of this.#sessions.keys()) this.#sendWatch(sessionId);
  }

  /** What a renderer that knows nothing has to be told. */
  held(sessionId: SessionId): Extract<RenderInput, { type: "chunk" }>[] {
    const inputs: Extract<RenderInput, { type: "chunk" }>[] = [];
    for (const [turnId, texts] of this.#sessions.get(sessionId) ?? []) {
      for (const [part, { pieces }] of texts) {
        const key = keyOf(sessionId, turnId, part);
        inputs.push({ type: "chunk", key, offset: 0, text: pieces.join("") });
      }
    }
    return inputs;
  }

  chunk(sessionId: SessionId, { turnId, part, offset, text }: Chunk): void {
    const turns = this.#sessions.get(sessionId);
    if (turns === undefined) return;
    const held = turns.get(turnId)?.get(part) ?? { pieces: [], length: 0 };
    if (offset > held.length) {
      this.#mend(sessionId);
      return;
    }
    this.#mending.delete(sessionId);
    const fresh = text.slice(held.length - offset);
    if (fresh === "") return;
    const texts = turns.get(turnId) ?? new Map<Part, HeldText>();
    turns.set(turnId, texts.set(part, held));
    const key = keyOf(sessionId, turnId, part);
    this.#options.forward(sessionId, { type: "chunk", key, offset: held.length, text: fresh });
    held.pieces.push(fresh);
    held.length += fresh.length;
  }

  /** A row that says how a text ended takes its place (F1). */
  rows(changes: readonly Change[], reset: boolean): void {
    if (reset) for (const sessionId of this.#sessions.keys()) this.#endAll(sessionId);
    for (const change of changes) {
      if (change.sessionId === null || !this.#sessions.has(change.sessionId)) continue;
      if (change.row === null) {
        if (change.kind === "session") this.#endAll(change.sessionId);
        else if (change.kind === "turn") this.#end(change.sessionId, Number(change.id), () => true);
      } else if (change.kind === "turn") {
        this.#end(change.sessionId, Number(change.id), endedParts(change.row));
      } else if (change.kind === "toolResult") {
        const { turnId, callId } = change.row;
        this.#end(change.sessionId, turnId, (part) => part === `output:${callId}`);
      }
    }
  }

  #endAll(sessionId: SessionId): void {
    const turns = this.#sessions.get(sessionId);
    for (const turnId of [...(turns?.keys() ?? [])]) this.#end(sessionId, turnId, () => true);
  }

  #end(sessionId: SessionId, turnId: number, isEnded: (part: Part) => boolean): void {
    const turns = this.#sessions.get(sessionId);
    const texts = turns?.get(turnId);
    if (turns === undefined || texts === undefined) return;
    for (const part of [...texts.keys()].filter(isEnded)) {
      texts.delete(part);
      this.#options.forward(sessionId, { type: "end", key: keyOf(sessionId, turnId, part) });
    }
    if (texts.size === 0) turns.delete(turnId);
  }

  /** A hole cannot be painted over: ask again from where ours ends. Once, not with every chunk. */
  #mend(sessionId: SessionId): void {
    if (this.#mending.has(sessionId)) return;
    this.#mending.add(sessionId);
    this.#sendWatch(sessionId);
  }

  #sendWatch(sessionId: SessionId): void {
    this.#options.send({ type: "watch", sessionId, at: this.#position(sessionId) });
  }

  /** Of the newest turn: only one runs at a time. */
  #position(sessionId: SessionId): WatchPosition | null {
    const turns = [...(this.#sessions.get(sessionId) ?? [])];
    const newest = turns.reduce<(typeof turns)[number] | null>(
      (best, turn) => (best === null || turn[0] > best[0] ? turn : best),
      null,
    );
    if (newest === null) return null;
    const [turnId, texts] = newest;
    const offsets = Object.fromEntries([...texts].map(([part, { length }]) => [part, length]));
    return { turnId, offsets };
  }
}

const keyOf = (sessionId: SessionId, turnId: number, part: Part): string =>
  `${sessionId}/${turnId}/${part}`;

function endedParts(row: TurnRow): (part: Part) => boolean {
  switch (row.state) {
    case "streaming":
      return () => false;
    case "calling":
      return (part) => part === "answer" || part === "reasoning";
    case "done":
    case "cancelled":
    case "failed":
    case "interrupted":
      return () => true;
  }
}
