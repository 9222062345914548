// What the sessions need of the feed: a place to say what is happening right now.

import type { SessionId } from "../../shared/ids.ts";
import type { LiveEvent, Part } from "../../shared/protocol/live-events.ts";

/** What sessions say themselves. Chunks go through a stream; who looks on is presence.ts's affair. */
export type PublishedEvent = Exclude<LiveEvent, { type: "turn.chunk" | "session.lookers" }>;

/** The text of one running turn, held for those who join late, addressed by offset. */
export interface TurnStream {
  /** Adds text and tells the watchers, at most once per CHUNK_COALESCE_MS each. */
  append(part: Part, text: string): void;
  /** All text so far. */
  text(part: Part): string;
  parts(): Partial<Record<Part, string>>;
  /** The turn's row holds it all now. Nothing may be appended after this. */
  end(): void;
}

export interface LiveSink {
  /** `rowRev`: the rev of the turn's row, which reaches a connection before any of the text (F6). */
  openStream(sessionId: SessionId, turnId: number, rowRev: number): TurnStream;
  /** `afterRev`: the rev of the row the event refers to (F6). */
  publish(sessionId: SessionId, event: PublishedEvent, afterRev: number): void;
}
