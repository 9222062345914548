// Wording for people, by error code and by connection state. Says what happened and what to do.

import { assertNever } from "../../shared/assert-never.ts";
import { type ErrorCode, Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { ConnectionState, LostBecause } from "../../workers/client.ts";
import { ago, count, counted } from "./times.ts";

export interface Words {
  readonly what: string;
  readonly todo: string;
}

const ERROR_WORDS = {
  bad_message: {
    what: "The daemon could not read what this page sent.",
    todo: "Reload the page. If it happens again, update Troupe.",
  },
  unknown_message: {
    what: "The daemon does not know this kind of message.",
    todo: "Update the daemon, then reload the page.",
  },
  unknown_method: {
    what: "The daemon cannot do this yet.",
    todo: "Update the daemon, then reload the page.",
  },
  bad_params: {
    what: "The daemon did not accept these values.",
    todo: "Check what you entered and try again.",
  },
  command_conflict: {
    what: "This was already sent once with other contents.",
    todo: "Reload the page and try again.",
  },
  too_large: {
    what: "This is too large to send.",
    todo: "Shorten it, or put it into a file in the folder.",
  },
  not_allowed: {
    what: "This device may not do that.",
    todo: "Use a device with the owner role.",
  },
  not_enrolled: {
    what: "This browser is not let in yet.",
    todo: "Print a link on the daemon's machine and open it here.",
  },
  enrolment_invalid: {
    what: "This link was already used, or it has expired.",
    todo: "Print a new link on the daemon's machine. A link works once, for 10 minutes.",
  },
  device_revoked: {
    what: "This browser's access was revoked.",
    todo: "Print a link on the daemon's machine to let it in again.",
  },
  version_mismatch: {
    what: "This page and the daemon speak different versions.",
    todo: "Update the older one, then reload.",
  },
  session_gone: {
    what: "This session was deleted.",
    todo: "Choose another one, or start a new session.",
  },
  request_gone: {
    what: "This prompt is no longer there.",
    todo: "It may have finished or been removed on another device.",
  },
  device_gone: {
    what: "This device is no longer on the list.",
    todo: "It may have been removed from another browser.",
  },
  blob_gone: {
    what: "The rest of this text is no longer stored.",
    todo: "The beginning is all there is.",
  },
  folder_missing: {
    what: "There is no folder at this path.",
    todo: "Check the spelling, or choose one from the list.",
  },
  folder_unreadable: {
    what: "The daemon may not read this folder.",
    todo: "Choose another one, or change its permissions.",
  },
  session_busy: {
    what: "The session is busy.",
    todo: "Wait until it is done, or stop it first.",
  },
  nothing_to_undo: {
    what: "There is nothing to undo.",
    todo: "Only finished prompts can be undone.",
  },
  nothing_to_redo: {
    what: "There is nothing to redo.",
    todo: "A new prompt clears what was undone.",
  },
  nothing_to_continue: {
    what: "There is nothing to continue.",
    todo: "Send a prompt instead.",
  },
  model_unknown: {
    what: "This model is not available.",
    todo: "Start a session with another model.",
  },
  provider_failed: {
    what: "The model could not answer.",
    todo: "Try again. Your prompt is kept.",
  },
  turn_limit: {
    what: "It stopped after many turns without coming to an end.",
    todo: "Continue if it was on the right track, or ask for a smaller step.",
  },
  interrupted: {
    what: "The daemon stopped while this was running.",
    todo: "What was written is kept. Continue where it left off.",
  },
  too_many_connections: {
    what: "The daemon has too many open connections.",
    todo: "Close some tabs. This page tries again by itself.",
  },
  too_many_calls: {
    what: "The daemon is still busy with what this page asked before.",
    todo: "Wait a moment, then try again.",
  },
  shutting_down: {
    what: "The daemon is shutting down.",
    todo: "Start it again with troupe; this page reconnects by itself.",
  },
  disk_failed: {
    what: "The daemon could not save this: its disk is full or cannot be written.",
    todo: "Free some space on the daemon's machine, then try again.",
  },
  not_connected: {
    what: "The daemon does not answer.",
    todo: "Start it with troupe. This page reconnects by itself.",
  },
  storage_failed: {
    what: "This browser's storage does not work.",
    todo: "Reload the page. If that does not help, free some space on this device, or update Troupe.",
  },
  internal: {
    what: "Something went wrong inside the daemon.",
    todo: "Try again. Its log says more.",
  },
} as const satisfies Record<ErrorCode, Words>;

export function wordsFor(error: Pick<WireError, "code">): Words {
  return ERROR_WORDS[error.code];
}

/** Any error in one sentence or two. */
export function problemWords(error: unknown): string {
  const { what, todo } = wordsFor(error instanceof Failure ? error.wire : { code: "internal" });
  return `${what} ${todo}`;
}

/** Why only the beginning of a text is shown. */
export function missingTextWords(error: unknown): string {
  if (!(error instanceof Failure)) return problemWords(error);
  // Not here yet: the rest comes with the connection.
  if (error.wire.retryable) return "The rest of this answer is not on this device yet.";
  return problemWords(error);
}

const LOST_WORDS = {
  unreachable: "the daemon does not answer",
  silent: "the daemon went silent",
  closed: "the connection was closed",
  shutting_down: "the daemon was stopped",
  evicted: "this page fell too far behind",
} as const satisfies Record<LostBecause, string>;

export const lostWords = (because: LostBecause): string => LOST_WORDS[because];

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
      return `Catching up ${count(state.applied)} / ${count(state.total)}`;
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
      return wordsFor(state.error).what;
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
