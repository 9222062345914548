// The messages between a page and the sync worker. Structured clones, typed once here.

import type { CommandId, DeviceId, SessionId } from "../../shared/ids.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { Identity } from "../../shared/protocol/handshake.ts";
import type { LiveEvent } from "../../shared/protocol/live-events.ts";
import type { CommandMethod, QueryMethod } from "../../shared/protocol/methods.ts";
import type { Change, DeviceRow, TextBody } from "../../shared/protocol/rows.ts";

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
    }
  /** The daemon answered and will not have us, or is not the one we pinned. Trying again by itself is no use. */
  | { kind: "refused"; error: WireError; daemon: Identity | null }
  /** The daemon's key is not the one this browser pinned. */
  | { kind: "changed-key"; pinned: string; offered: string };

/** A command on its way, kept in IndexedDB until the daemon answered it. */
export interface OutboxEntry {
  readonly commandId: CommandId;
  readonly method: CommandMethod;
  readonly params: unknown;
  readonly state: "waiting" | "sent";
  readonly createdAt: number;
}

export type PageMessage =
  /** First message of a page. `renderPort` takes RenderInput for the sessions this page has open. */
  | { type: "attach"; renderPort: MessagePort; enrolment: string | null; deviceName: string }
  | { type: "open"; sessionId: SessionId }
  | { type: "close"; sessionId: SessionId }
  /** The rows before the earliest that this page was given. */
  | { type: "earlier"; sessionId: SessionId }
  | { type: "query"; id: number; method: QueryMethod; params: unknown }
  | { type: "command"; id: number; commandId: CommandId; method: CommandMethod; params: unknown }
  /** Answered with a boolean: true, the command was not sent yet and never will be. */
  | { type: "withdraw"; id: number; commandId: CommandId }
  | { type: "text"; id: number; body: TextBody }
  | { type: "draft"; sessionId: SessionId; text: string }
  /** This page holds this lock for as long as it lives, however it ends. */
  | { type: "alive"; lock: string }
  /** The page became visible, or the network came back: find out now whether the socket lives. */
  | { type: "wake" }
  /** Pair again after `changed-key` or `refused`, with a fresh launch token. */
  | { type: "enrol"; secret: string }
  /** The page is going away; its port will stay silent. */
  | { type: "detach" };

export type SyncMessage =
  /** The worker holds this lock for as long as it lives, however it ends. */
  | { type: "alive"; lock: string }
  | { type: "connection"; state: ConnectionState; syncedAt: number | null }
  /**
   * Changed rows, in rev order: of every session and device, and of requests, turns and tool results
   * of the sessions this page has open. `reset`: forget all rows held before.
   */
  | { type: "rows"; changes: Change[]; reset: boolean }
  /** All rows from disk that `open` or `earlier` asked for have been sent. */
  | { type: "opened"; sessionId: SessionId; found: boolean; hasEarlier: boolean; draft: string }
  /** Chunks go to the renderer, not here. */
  | { type: "live"; sessionId: SessionId; event: Exclude<LiveEvent, { type: "turn.chunk" }> }
  | { type: "outbox"; entries: OutboxEntry[] }
  | { type: "value"; id: number; value: unknown }
  | { type: "failure"; id: number; error: WireError };
