// Wording for people, by connection state and for what is on its way. Errors have theirs in error-words.ts.

import { assertNever } from "../../shared/assert-never.ts";
import type { ConnectionState, LostBecause } from "../../workers/client.ts";
import { ago, count, counted } from "./times.ts";

const LOST_WORDS = {
  unreachable: "the daemon does not answer",
  silent: "the daemon went silent",
  closed: "the connection was closed",
  shutting_down: "the daemon was stopped",
  evicted: "this page fell too far behind",
} as const satisfies Record<LostBecause, string>;

export const lostWords = (because: LostBecause): string => LOST_WORDS[because];

/** Where a prompt is that the daemon has not taken yet. */
export function receiptWords(state: "waiting" | "sent", connection: ConnectionState): string {
  const isOnline = connection.kind === "live" || connection.kind === "catching-up";
  if (state === "waiting")
    return isOnline ? "Waits for what was sent before it" : "Will be sent when the daemon is back";
  return isOnline
    ? "Sent, not accepted yet"
    : "Sent, but whether it arrived shows when the daemon is back";
}

/** A session of which only the title is kept here. `here` of its turns have come so far. */
export function fetchingWords(
  connection: ConnectionState,
  turns: { here: number; all: number },
): string {
  if (connection.kind !== "live" && connection.kind !== "catching-up")
    return "This session is not kept in this browser. It will be fetched when the daemon is back.";
  const all = counted(turns.all, "turn");
  if (turns.here > 0) return `Fetching this session: ${count(turns.here)} of ${all}…`;
  return turns.all > 0 ? `Fetching this session: ${all}…` : "Fetching this session…";
}

/** The daemon's state beside the brand, in a word or two. */
export function daemonWords(state: ConnectionState): string {
  switch (state.kind) {
    case "live":
      return state.daemonName;
    case "catching-up":
      return "catching up";
    case "connecting":
    case "handshaking":
      return "connecting";
    case "offline":
      return "offline · reading";
    case "refused":
      return "not let in";
    case "changed-key":
      return "changed key";
    default:
      return assertNever(state);
  }
}

/** Counted in revs, of which many may hold no row: only the share is something to go by. */
const shareDone = ({ applied, total }: { applied: number; total: number }): number =>
  total === 0 ? 0 : Math.floor((100 * applied) / total);

/** The foot of the rail: where this device stands. */
export function syncWords(
  state: ConnectionState,
  facts: { syncedAt: number | null; waiting: number; now: number },
): string {
  const { syncedAt, waiting, now } = facts;
  const waitingWords = waiting === 0 ? "" : `, ${counted(waiting, "change")} waiting`;
  switch (state.kind) {
    case "live":
      return waiting > 0
        ? `Sending ${counted(waiting, "change")}`
        : `Synced ${ago(syncedAt ?? now, now)}`;
    case "catching-up":
      return `Catching up ${shareDone(state)}%`;
    case "connecting":
    case "handshaking":
      return `Connecting${waitingWords}`;
    case "offline":
      if (waiting > 0) return `Offline${waitingWords}`;
      return syncedAt === null ? "Offline" : `Offline, synced ${ago(syncedAt, now)}`;
    case "refused":
    case "changed-key":
      return `Not connected${waitingWords}`;
    default:
      return assertNever(state);
  }
}

/** What a screen reader hears when the connection changes; null where it would only be noise. */
export function announcedConnection(state: ConnectionState): string | null {
  switch (state.kind) {
    case "live":
      return "Connected to the daemon.";
    case "offline":
      return `Offline: ${lostWords(state.because)}.`;
    case "refused":
      return "The daemon did not let this page in.";
    case "changed-key":
      return "The daemon's key has changed.";
    case "connecting":
    case "handshaking":
    case "catching-up":
      return null;
    default:
      return assertNever(state);
  }
}

/** A model's name without its provider. */
export const modelName = (model: string): string => model.slice(model.indexOf("/") + 1);
