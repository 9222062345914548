// One page of the browser, as the sync worker sees it: what it has open, and what waits until the
// rows that were being read from disk for it have been sent.

import type { SessionId } from "../../shared/ids.ts";
import { type Change, isBodyKind } from "../../shared/protocol/rows.ts";
import type { Clock } from "../clock.ts";
import type { RenderInput } from "../render/port.ts";
import type { RenderPort, SyncMessage } from "./port.ts";
import type { WindowEdge } from "./replica.ts";

/** Rows of which more follow at once are sent this often. */
const GATHER_MS = 250;

export class Tab {
  readonly #post: (message: SyncMessage) => void;
  readonly #renderPort: RenderPort;
  readonly #clock: Clock;
  /** What `earlier` asks for next; null when there is nothing earlier, or it is not known yet. */
  readonly open = new Map<SessionId, WindowEdge | null>();
  /** Open sessions of which nothing could be read yet. */
  readonly unread = new Set<SessionId>();
  /** Open sessions that this page was told are not whole. */
  readonly partial = new Set<SessionId>();
  /** What someone sees at this page. */
  look: SessionId | null = null;
  #readings = 0;
  /** Settled once all readings before have been sent. */
  #lastReading: Promise<unknown> = Promise.resolve();
  #waiting: SyncMessage[] = [];
  /** Rows to be sent before anything else is. */
  #gathered: Change[] = [];
  #cancelGathering = () => {};
  #gatherUntil = 0;

  constructor(post: (message: SyncMessage) => void, renderPort: RenderPort, clock: Clock) {
    this.#post = post;
    this.#renderPort = renderPort;
    this.#clock = clock;
  }

  post(message: SyncMessage): void {
    this.#sendGathered();
    this.#post(message);
  }

  /**
   * Rows of what this page shows. Those that come during a reading are newer, and follow it. `areMore`: others
   * follow at once; a page that drew each few of them would slow down the catching up that brings them.
   */
  rows(changes: readonly Change[], reset: boolean, areMore: boolean): void {
    const shown = changes.filter(
      ({ kind, sessionId }) =>
        !isBodyKind(kind) || (sessionId !== null && this.open.has(sessionId)),
    );
    if (shown.length === 0 && !reset) return;
    if (areMore && !reset && this.#readings === 0) {
      this.#gather(shown);
      return;
    }
    const message: SyncMessage = { type: "rows", changes: shown, reset };
    if (this.#readings > 0) this.#waiting.push(message);
    else this.post(message);
  }

  /** Sends what `read` yields after what earlier readings do, and before any row that came after it began. */
  reading(read: () => Promise<SyncMessage[]>): Promise<void> {
    this.#sendGathered();
    this.#readings++;
    const reading = this.#sendInTurn(read(), this.#lastReading);
    this.#lastReading = reading.catch(() => {}); // Its caller hears of it from `reading`.
    return reading;
  }

  async #sendInTurn(read: Promise<SyncMessage[]>, earlier: Promise<unknown>): Promise<void> {
    try {
      const [messages] = await Promise.all([read, earlier]);
      for (const message of messages) this.#post(message);
    } finally {
      this.#readings--;
      if (this.#readings === 0) {
        const waiting = this.#waiting;
        this.#waiting = [];
        for (const message of waiting) this.#post(message);
      }
    }
  }

  render(input: RenderInput): void {
    this.#sendGathered();
    this.#renderPort.postMessage(input);
  }

  #gather(changes: readonly Change[]): void {
    const now = this.#clock.now();
    const isFirst = this.#gathered.length === 0;
    this.#gathered.push(...changes);
    if (now >= this.#gatherUntil) {
      this.#gatherUntil = now + GATHER_MS;
      this.#sendGathered();
    } else if (isFirst) {
      this.#cancelGathering = this.#clock.after(GATHER_MS, () => this.#sendGathered());
    }
  }

  #sendGathered(): void {
    if (this.#gathered.length === 0) return;
    this.#cancelGathering();
    const changes = this.#gathered;
    this.#gathered = [];
    this.#post({ type: "rows", changes, reset: false });
  }

  close(): void {
    this.#cancelGathering();
    this.open.clear();
    this.#renderPort.close();
  }
}
