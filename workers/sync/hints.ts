// What goes on now, as live events tell it, for the pages that are here and those that come later; and
// what the people at this device look at, for the others. None of it outlasts a connection.

import { assertNever } from "../../shared/assert-never.ts";
import type { DeviceId, SessionId } from "../../shared/ids.ts";
import { LOOKS_MAX } from "../../shared/limits.ts";
import type { LiveEvent } from "../../shared/protocol/live-events.ts";
import type { ClientMessage } from "../../shared/protocol/messages.ts";
import type { SyncMessage } from "./port.ts";
import type { Tab } from "./tab.ts";

type Hint = Exclude<LiveEvent, { type: "turn.chunk" }>;

export class Hints {
  readonly #tabs: ReadonlySet<Tab>;
  readonly #send: (message: ClientMessage) => boolean;
  /** What each session was last said to be doing. */
  readonly #doing = new Map<SessionId, string>();
  /** Of sessions that are open here. */
  readonly #lookers = new Map<SessionId, DeviceId[]>();
  #looks = "";

  constructor(tabs: ReadonlySet<Tab>, send: (message: ClientMessage) => boolean) {
    this.#tabs = tabs;
    this.#send = send;
  }

  live(sessionId: SessionId, event: Hint): void {
    switch (event.type) {
      case "session.doing":
        if (event.doing === null) this.#doing.delete(sessionId);
        else this.#doing.set(sessionId, event.doing);
        for (const tab of this.#tabs) tab.post({ type: "live", sessionId, event });
        return;
      case "session.lookers":
        this.#lookers.set(sessionId, event.deviceIds);
        this.#tellOpen(sessionId, event);
        return;
      case "tool.started":
        this.#tellOpen(sessionId, event);
        return;
      default:
        assertNever(event);
    }
  }

  ready(): void {
    this.#looks = "";
    this.look();
  }

  lost(): void {
    for (const sessionId of [...this.#doing.keys()]) {
      this.live(sessionId, { type: "session.doing", doing: null });
    }
    for (const sessionId of [...this.#lookers.keys()]) {
      this.live(sessionId, { type: "session.lookers", deviceIds: [] });
    }
    this.#lookers.clear();
  }

  /** The session is open nowhere here any more. */
  closed(sessionId: SessionId): void {
    this.#lookers.delete(sessionId);
  }

  /** Some page may look at something else than before. */
  look(): void {
    const seen = new Set<SessionId>();
    for (const { look } of this.#tabs) if (look !== null) seen.add(look);
    const sessionIds = [...seen].slice(0, LOOKS_MAX);
    const looks = sessionIds.join();
    if (looks !== this.#looks && this.#send({ type: "look", sessionIds })) this.#looks = looks;
  }

  /** For a page that is new. */
  doing(): SyncMessage[] {
    return [...this.#doing].map(([sessionId, doing]) => ({
      type: "live",
      sessionId,
      event: { type: "session.doing", doing },
    }));
  }

  /** For a page that opened the session. */
  lookers(sessionId: SessionId): SyncMessage[] {
    const deviceIds = this.#lookers.get(sessionId);
    if (deviceIds === undefined) return [];
    return [{ type: "live", sessionId, event: { type: "session.lookers", deviceIds } }];
  }

  #tellOpen(sessionId: SessionId, event: Hint): void {
    for (const tab of this.#tabs) {
      if (tab.open.has(sessionId)) tab.post({ type: "live", sessionId, event });
    }
  }
}
