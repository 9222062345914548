// What has really happened in one history of the daemon: what was said, begun and answered. A daemon
// that is restored from a copy starts another history, which knows what the copy's did.

import type { Part } from "../../shared/protocol/live-events.ts";
import type { Change, RequestRow } from "../../shared/protocol/rows.ts";

export const streamKey = (sessionId: string, turnId: number, part: Part): string =>
  `${sessionId}/${turnId}/${part}`;

interface SentRow extends Pick<Change, "kind" | "sessionId" | "id" | "rev"> {
  /** Its tombstone was sent. */
  readonly isGone: boolean;
}

export class History {
  readonly number: number;
  /** All that was said, by session, turn and part: of which a page may show a beginning. */
  readonly said = new Map<string, string>();
  /** The rev of the row that each turn began with. */
  readonly turnRevs = new Map<string, number>();
  /** Commands that were answered with success. */
  readonly answered = new Set<string>();
  /** Commands that were answered with a failure, and with no success. */
  readonly refused = new Set<string>();
  /** How often a model was asked to begin on a prompt, by its text. */
  readonly begun = new Map<string, number>();
  /** The last that was seen of each request. */
  readonly requests = new Map<string, RequestRow>();
  /** Every row that any connection was sent, with its rev: none of them may be lost. */
  readonly rows = new Map<string, SentRow>();

  constructor(number: number) {
    this.number = number;
  }

  fork(number: number): History {
    const fork = new History(number);
    for (const [key, text] of this.said) fork.said.set(key, text);
    for (const [key, rev] of this.turnRevs) fork.turnRevs.set(key, rev);
    for (const commandId of this.answered) fork.answered.add(commandId);
    for (const commandId of this.refused) fork.refused.add(commandId);
    for (const [prompt, count] of this.begun) fork.begun.set(prompt, count);
    for (const [id, row] of this.requests) fork.requests.set(id, row);
    for (const [key, row] of this.rows) fork.rows.set(key, row);
    return fork;
  }

  sent({ kind, sessionId, id, rev, row }: Change): void {
    const key = `${kind} ${sessionId} ${id}`;
    if ((this.rows.get(key)?.rev ?? 0) > rev) return;
    this.rows.set(key, { kind, sessionId, id, rev, isGone: row === null });
  }
}
