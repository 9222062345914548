// Which sessions' bodies a device leaves out when it connects (F9): what it says, by the daemon's clock.

import type { SessionId } from "../../shared/ids.ts";
import type { Scope } from "../../shared/protocol/messages.ts";
import type { Store } from "../store/store.ts";

const DAY_MS = 24 * 60 * 60_000;

export class Scopes {
  readonly #store: Pick<Store, "existingSessions" | "sessionsAfter">;
  /** When they were modified, for those that are not pinned: to read them all anew takes a while. */
  readonly #modifiedAt = new Map<SessionId, number>();
  /** The state that this was read from. */
  #head = 0;

  constructor(store: Pick<Store, "existingSessions" | "sessionsAfter">) {
    this.#store = store;
  }

  /** Of those that the connection may see. */
  async leftOut(
    { days, except }: Scope,
    { now, maySee }: { now: number; maySee: (sessionId: SessionId) => boolean },
  ): Promise<SessionId[]> {
    const named = except.filter(maySee);
    const leftOut = new Set(named.length > 0 ? await this.#store.existingSessions(named) : []);
    if (days !== null) {
      await this.#catchUp();
      const oldest = now - days * DAY_MS;
      for (const [sessionId, modifiedAt] of this.#modifiedAt) {
        if (modifiedAt < oldest && maySee(sessionId)) leftOut.add(sessionId);
      }
    }
    return [...leftOut];
  }

  async #catchUp(): Promise<void> {
    const { sessions, head } = await this.#store.sessionsAfter(this.#head);
    // One that began earlier and read less was overtaken.
    if (head < this.#head) return;
    this.#head = head;
    for (const { sessionId, row } of sessions) {
      if (row === null || row.pinned) this.#modifiedAt.delete(sessionId);
      else this.#modifiedAt.set(sessionId, row.modifiedAt);
    }
  }
}
