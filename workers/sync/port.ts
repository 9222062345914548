// The messages between a page and the sync worker. Structured clones, typed once here.

import type { CommandId, DeviceId, SessionId } from "../../shared/ids.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { Identity, Introduction } from "../../shared/protocol/handshake.ts";
import type { LiveEvent } from "../../shared/protocol/live-events.ts";
import type { CommandMethod, QueryMethod } from "../../shared/protocol/methods.ts";
import type { Change, DeviceRow, TextBody } from "../../shared/protocol/rows.ts";
import type { RenderInput } from "../render/port.ts";

/** The secret of the link that opened a page, and what kind of link it was. */
export type Enrolment = NonNullable<Introduction["enrolment"]>;

/** Why a socket was given up, in a word the page can put into words. */
export type LostBecause = "unreachable" | "silent" | "closed" | "shutting_down" | "evicted";

export type ConnectionState =
  /** No socket; the next try starts at `retryAt` (ms since the epoch). */
  | { kind: "offline"; because: LostBecause; retryAt: number }
  | { kind: "connecting" }
  | { kind: "handshaking" }
  | { kind: "catching-up"; applied: number; total: number }
  | {
      kind: "live";
      deviceId: DeviceId;
      role: DeviceRow["role"];
      daemonName: string;
      daemonVersion: string;
      /** How far this device's clock is ahead of the daemon's, by which all times in rows are. */
      clockAheadMs: number;
    }
  /** The daemon answered and will not have us, or is not the one we pinned. Trying again by itself is no use. */
  | { kind: "refused"; error: WireError; daemon: Identity | null }
  /** The daemon's key is not the one this browser pinned. */
  | { kind: "changed-key"; pinned: string; offered: string };

/**
 * A command on its way, kept in IndexedDB until the daemon answered it. One that it refused stays as `refused`
 * if it is a prompt, or if no page waits for its answer: until it is dismissed with `withdraw`. To send it again
 * takes a fresh command, given before the refused one is dismissed, so that a crash in between loses nothing.
 */
export type OutboxEntry = {
  readonly commandId: CommandId;
  readonly method: CommandMethod;
  readonly params: unknown;
  readonly createdAt: number;
} & (
  | { readonly state: "waiting" | "sent" }
  | { readonly state: "refused"; readonly error: WireError }
);

/** What this browser keeps, and what that takes. Bytes are null where the browser does not say. */
export interface StorageFacts {
  /** What is kept of sessions that are not pinned: null, all that the budget allows, else the last days. */
  readonly days: number | null;
  /** Of all this origin stores. */
  readonly usedBytes: number | null;
  /** What this browser may fill with sessions before the oldest unpinned ones leave. */
  readonly budgetBytes: number | null;
  /** The browser promised not to clear it when disk space runs low. */
  readonly isPersisted: boolean;
  /** Sessions of which only the title is here; they are fetched when opened. */
  readonly leftOut: number;
}

/** Where a page's renderer listens: its end of a MessageChannel, or the way to it through another worker. */
export interface RenderPort {
  postMessage(input: RenderInput): void;
  close(): void;
}

export type PageMessage =
  /** First message of a page. `renderPort` takes RenderInput for the sessions this page has open. */
  | { type: "attach"; renderPort: RenderPort; enrolment: Enrolment | null; deviceName: string }
  | { type: "open"; sessionId: SessionId }
  | { type: "close"; sessionId: SessionId }
  /** The rows before the earliest that this page was given. */
  | { type: "earlier"; sessionId: SessionId }
  | { type: "query"; id: number; method: QueryMethod; params: unknown }
  /** `isAgain`: another engine was given it, and may have sent it. */
  | {
      type: "command";
      id: number;
      commandId: CommandId;
      method: CommandMethod;
      params: unknown;
      isAgain?: true;
    }
  /** Answered with a boolean: true, the command was not sent yet and never will be, or was refused and is forgotten. */
  | { type: "withdraw"; id: number; commandId: CommandId }
  /** Answered with a boolean: true, the command was not sent yet and will be sent with these params instead. */
  | { type: "amend"; id: number; commandId: CommandId; params: unknown }
  /** What this page shows now, and someone can see; null: nothing, or the page is hidden. */
  | { type: "look"; sessionId: SessionId | null }
  /** Answered with StorageFacts. */
  | { type: "storage"; id: number }
  /** What to keep from now on (StorageFacts.days). Answered with StorageFacts once it is stored. */
  | { type: "keepDays"; id: number; days: number | null }
  | { type: "text"; id: number; body: TextBody }
  | { type: "draft"; sessionId: SessionId; text: string }
  /** This page holds this lock for as long as it lives, however it ends. */
  | { type: "alive"; lock: string }
  /** The page became visible, or the network came back: find out now whether the socket lives. */
  | { type: "wake" }
  /** Whether someone can see the page; true unless it says so. */
  | { type: "visible"; isVisible: boolean }
  /** Bring the secret of another link: after `changed-key` or `refused`, or to be let in further. */
  | { type: "enrol"; enrolment: Enrolment }
  /** The page is going away; its port will stay silent. */
  | { type: "detach" };

export type SyncMessage =
  /** The worker holds this lock for as long as it lives, however it ends. */
  | { type: "alive"; lock: string }
  /** Another engine serves this page from now on, and knows nothing of it: the page has to attach anew. */
  | { type: "successor" }
  | { type: "connection"; state: ConnectionState; syncedAt: number | null }
  /**
   * Changed rows, in rev order: of every session, device, share and grant, and of requests, turns and tool results
   * of the sessions this page has open. `reset`: forget all rows held before.
   */
  | { type: "rows"; changes: Change[]; reset: boolean }
  /**
   * All rows from disk that `open` or `earlier` asked for have been sent. `isWhole` false: the session is
   * among those left out here; its bodies are being fetched, or will be once there is a connection. Said
   * again, after the rows, when they are here.
   */
  | {
      type: "opened";
      sessionId: SessionId;
      found: boolean;
      hasEarlier: boolean;
      isWhole: boolean;
      draft: string;
    }
  /** Chunks go to the renderer, not here. */
  | { type: "live"; sessionId: SessionId; event: Exclude<LiveEvent, { type: "turn.chunk" }> }
  | { type: "outbox"; entries: OutboxEntry[] }
  /** Some page took this command back, or put it away: no page asks for it again. */
  | { type: "withdrawn"; commandId: CommandId }
  | { type: "value"; id: number; value: unknown }
  | { type: "failure"; id: number; error: WireError };

/** Told where no worker runs that could say it. */
export function scriptMissing(): SyncMessage {
  const message = "A script of this page's build could not be loaded.";
  const error = { code: "part_missing", message, retryable: false } as const;
  return { type: "connection", state: { kind: "refused", error, daemon: null }, syncedAt: null };
}
