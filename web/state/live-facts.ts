// What is true only for now: what sessions are doing, which calls run, what was opened, and what this
// page asked for that is as good as done. Never rows.

import { createStore, produce, reconcile } from "solid-js/store";
import { assertNever } from "../../shared/assert-never.ts";
import type { DeviceId, SessionId } from "../../shared/ids.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import type { SyncEvent } from "../../workers/client.ts";

/** What the sync worker said about a session this page has open. */
export interface Opened {
  readonly found: boolean;
  readonly hasEarlier: boolean;
  /** False: only the title is here yet. */
  readonly isWhole: boolean;
  readonly draft: string;
}

interface Facts {
  doing: Record<string, string | null>;
  /** By session, then by `turnId/callId`. */
  started: Record<string, Record<string, true>>;
  opened: Record<string, Opened>;
  /** The other devices that look at a session. */
  lookers: Record<string, readonly DeviceId[]>;
  making: Record<string, true>;
  /** Gone from view at once, not only when the outbox says so. */
  deleting: Record<string, true>;
}

type LiveMessage = Extract<SyncEvent, { type: "live" }>;
type OpenedMessage = Extract<SyncEvent, { type: "opened" }>;

const noFacts = (): Facts => ({
  doing: {},
  started: {},
  opened: {},
  lookers: {},
  making: {},
  deleting: {},
});

export function createLiveFacts() {
  const [facts, setFacts] = createStore<Facts>(noFacts());
  const change = (work: (held: Facts) => void) => setFacts(produce(work));
  return {
    facts,
    onLive({ sessionId, event }: LiveMessage) {
      switch (event.type) {
        case "session.doing":
          setFacts("doing", sessionId, event.doing);
          return;
        case "tool.started":
          change((held) => {
            held.started[sessionId] ??= {};
            Object.assign(held.started[sessionId] ?? {}, {
              [`${event.turnId}/${event.callId}`]: true,
            });
          });
          return;
        case "session.lookers":
          setFacts("lookers", sessionId, event.deviceIds);
          return;
        default:
          assertNever(event);
      }
    },
    /** Replaced, not merged: each answer is an object of its own. */
    onOpened({ sessionId, found, hasEarlier, isWhole, draft }: OpenedMessage) {
      change((held) => {
        held.opened[sessionId] = { found, hasEarlier, isWhole, draft };
      });
    },
    onOffline: () => setFacts("doing", reconcile({})),
    onClosed(sessionId: SessionId) {
      change((held) => {
        delete held.opened[sessionId];
        delete held.started[sessionId];
        delete held.lookers[sessionId];
      });
    },
    /** What a command is sure to change, before anybody answered. Returns how to take it back. */
    paintAhead(method: CommandMethod, params: object, commandId: string): () => void {
      const isDelete = method === "session.delete" && "sessionId" in params;
      if (method !== "session.create" && !isDelete) return () => {};
      const set = isDelete ? "deleting" : "making";
      const id = isDelete ? String(params.sessionId) : commandId;
      setFacts(set, id, true);
      return () => change((held) => void delete held[set][id]);
    },
  };
}
