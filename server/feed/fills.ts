// The sessions a connection wants filled: their bodies, read a part at a time, one session after another.

import type { SessionId } from "../../shared/ids.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Store } from "../store/store.ts";
import type { Sight } from "./sight.ts";

export type FillMessage = Extract<DaemonMessage, { type: "fill" }>;

interface Fill {
  readonly sessionId: SessionId;
  /** The connection's cursor at the first part; null before that. What changes later comes in pages. */
  upto: number | null;
  /** The rev that was read last. */
  after: number;
}

export class Fills {
  readonly #sight: Sight;
  readonly #store: Pick<Store, "bodies">;
  /** In the order they were asked for. */
  readonly #fills = new Map<SessionId, Fill>();

  constructor(sight: Sight, store: Pick<Store, "bodies">) {
    this.#sight = sight;
    this.#store = store;
  }

  get count(): number {
    return this.#fills.size;
  }

  /** Asked again, it begins anew. */
  want(sessionId: SessionId): void {
    this.#fills.set(sessionId, { sessionId, upto: null, after: 0 });
    this.#sight.fillIsWanted(sessionId);
  }

  drop(sessionId: SessionId): void {
    this.#fills.delete(sessionId);
  }

  /**
   * The next part for a connection that pages have brought up to `cursor`. It is handed to `send`, and
   * nothing is sent of a session that was dropped, or asked for again, meanwhile.
   */
  async sendNext(
    cursor: number,
    pack: (message: FillMessage) => Promise<DaemonMessage>,
    send: (part: FillMessage, message: DaemonMessage) => void,
  ): Promise<void> {
    const [fill] = this.#fills.values();
    if (fill === undefined) return;
    const { sessionId } = fill;
    const isFirst = fill.upto === null;
    if (isFirst) this.#sight.fillBegins(sessionId);
    fill.upto ??= cursor;
    const range = { sessionId, after: fill.after, upto: fill.upto };
    const { changes, isLast, head } = await this.#store.bodies(range, this.#sight.viewer);
    const part: FillMessage = { type: "fill", sessionId, changes, cursor, isFirst, isLast };
    const message = await pack(part);
    if (this.#fills.get(sessionId) !== fill) return;
    fill.after = changes.at(-1)?.rev ?? fill.upto;
    send(part, message);
    if (!isLast) return;
    this.#fills.delete(sessionId);
    this.#sight.fillEnded(sessionId, { cursor, head });
  }
}
