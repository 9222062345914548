// What one connection may be shown: the sessions it may see, and of which of them it is sent the bodies
// (F9). Live events look here too, so that none goes ahead of a row the client was not sent (F6).

import type { DeviceId, SessionId } from "../../shared/ids.ts";
import type { Store, Visibility } from "../store/store.ts";

export class Sight {
  /** Null for owners. */
  readonly viewer: DeviceId | null;
  readonly #leftOut = new Set<SessionId>();
  /** Sessions being filled. */
  readonly #filling = new Set<SessionId>();
  /** Sessions that were filled: the rev that live events of their bodies have to wait for. */
  readonly #filledAt = new Map<SessionId, number>();
  /** A viewer's sessions, each with its grant's rev: from there on it holds the session's row. */
  #grants: ReadonlyMap<SessionId, number> = new Map();

  constructor(viewer: DeviceId | null) {
    this.viewer = viewer;
  }

  get leftOutCount(): number {
    return this.#leftOut.size;
  }

  get visibility(): Visibility {
    return { viewer: this.viewer, leftOut: this.#leftOut };
  }

  maySee(sessionId: SessionId): boolean {
    return this.viewer === null || this.#grants.has(sessionId);
  }

  /** Whether a connection that was sent all it may see up to `rev` was sent the session's row. */
  hasRow(sessionId: SessionId, rev: number): boolean {
    return this.viewer === null || (this.#grants.get(sessionId) ?? Number.POSITIVE_INFINITY) <= rev;
  }

  /** The same of the session's bodies. */
  hasBodies(sessionId: SessionId, rev: number): boolean {
    if (this.#leftOut.has(sessionId) || this.#filling.has(sessionId)) return false;
    return this.hasRow(sessionId, rev) && (this.#filledAt.get(sessionId) ?? 0) <= rev;
  }

  leaveOut(sessionId: SessionId): void {
    this.#leftOut.add(sessionId);
    this.#filling.delete(sessionId);
    this.#filledAt.delete(sessionId);
  }

  /** From now on the client may forget what it holds of the session's bodies. */
  fillIsWanted(sessionId: SessionId): void {
    this.#filling.add(sessionId);
  }

  /** From now on pages hold the session's bodies. */
  fillBegins(sessionId: SessionId): void {
    this.#leftOut.delete(sessionId);
  }

  /** `head`: what the last part lacks because it has moved comes in the pages from `cursor` up to there. */
  fillEnded(sessionId: SessionId, { cursor, head }: { cursor: number; head: number }): void {
    this.#filling.delete(sessionId);
    if (head > cursor) this.#filledAt.set(sessionId, head);
    else this.#filledAt.delete(sessionId);
  }

  /** The connection was sent all rows as they were at `rev`. */
  rowsAreHeld(rev: number): void {
    for (const [sessionId, filledAt] of this.#filledAt) {
      if (filledAt <= rev) this.#filledAt.delete(sessionId);
    }
  }

  /** The session was deleted. */
  forget(sessionId: SessionId): void {
    this.#leftOut.delete(sessionId);
    this.#filling.delete(sessionId);
    this.#filledAt.delete(sessionId);
  }

  /** Looks again at what is granted to the viewer; says what it lost and gained, a renewed grant being both. */
  async look(store: Pick<Store, "rowsById">): Promise<{ lost: SessionId[]; gained: SessionId[] }> {
    if (this.viewer === null) return { lost: [], gained: [] };
    const grants = new Map<SessionId, number>();
    for (const { sessionId, rev } of await store.rowsById("grant", this.viewer)) {
      if (sessionId !== null) grants.set(sessionId, rev);
    }
    const before = this.#grants;
    this.#grants = grants;
    return { lost: notAmong(before, grants), gained: notAmong(grants, before) };
  }

  /** The sessions granted after `rev`. */
  grantedAfter(rev: number): SessionId[] {
    return [...this.#grants].flatMap(([sessionId, grantRev]) => (grantRev > rev ? sessionId : []));
  }
}

const notAmong = (
  grants: ReadonlyMap<SessionId, number>,
  others: ReadonlyMap<SessionId, number>,
): SessionId[] =>
  [...grants].flatMap(([sessionId, rev]) => (others.get(sessionId) === rev ? [] : sessionId));
