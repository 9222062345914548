// Wording for people, by error code: what happened and what to do. Loaded when something has gone wrong.

import { type ErrorCode, Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";

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
    todo: "It was let in to read only. Use a device of the daemon's owner.",
  },
  not_enrolled: {
    what: "This browser is not let in yet.",
    todo: "Print a link on the daemon's machine and open it here.",
  },
  enrolment_invalid: {
    what: "This link no longer works.",
    todo: "It was used, taken back, or has expired. Ask for a new one, or print one on the daemon's machine.",
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
  share_gone: {
    what: "This share link is no longer there.",
    todo: "It has expired, or it was taken back on another device.",
  },
  share_full: {
    what: "This link let in as many browsers as it may.",
    todo: "Ask whoever sent it to you for a new one.",
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
    todo: "What was written is kept, except perhaps for the last second. Continue where it left off.",
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
  part_missing: {
    what: "A part of this page could not be loaded.",
    todo: "Troupe may have been updated while it was open. Reload the page; what you wrote is kept.",
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

const COMMAND_WORDS: Partial<Record<CommandMethod, string>> = {
  "session.create": "A new session was refused.",
  "session.rename": "A session's new name was refused.",
  "session.delete": "Deleting a session was refused.",
  "session.prompt": "A prompt was refused.",
  "share.create": "A share link was refused.",
  "share.revoke": "Taking back a share link was refused.",
};

/** What was refused, of a command that was given some time ago, on another page or before a reload. */
export const refusedWords = (method: CommandMethod): string =>
  COMMAND_WORDS[method] ?? "A change was refused.";
