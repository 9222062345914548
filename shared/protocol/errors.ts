// Wire errors: a closed set of codes. Wording for people lives in web/, chosen by code; `message`
// says what was attempted, on what, and what to do, and never holds prompt text or secrets.

import * as z from "zod/mini";
import { recordOf } from "./record-of.ts";

export const ERROR_CODES = [
  "bad_message",
  "unknown_message",
  "unknown_method",
  "bad_params",
  "command_conflict",
  "too_large",
  "not_allowed",
  "not_enrolled",
  "enrolment_invalid",
  "device_revoked",
  "version_mismatch",
  "session_gone",
  "request_gone",
  "device_gone",
  "share_gone",
  "share_full",
  "blob_gone",
  "folder_missing",
  "folder_unreadable",
  "session_busy",
  "nothing_to_undo",
  "nothing_to_redo",
  "nothing_to_continue",
  "model_unknown",
  "provider_failed",
  "turn_limit",
  "interrupted",
  "too_many_connections",
  "too_many_calls",
  "shutting_down",
  // The daemon's disk is full or cannot be written.
  "disk_failed",
  // Made by the client itself, never sent by the daemon.
  "not_connected",
  "storage_failed",
  "part_missing",
  "internal",
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

const isDetail = (value: unknown): value is string | number | boolean =>
  ["string", "number", "boolean"].includes(typeof value);

export const wireErrorSchema = z.object({
  code: z.enum(ERROR_CODES),
  message: z.string(),
  /** True when the same call may succeed later unchanged, a command under a fresh id. */
  retryable: z.boolean(),
  details: z.optional(recordOf(isDetail)),
});

export type WireError = z.infer<typeof wireErrorSchema>;

/** Thrown where a call must end in a `failure`; converted in one place, where methods are dispatched. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly wire: WireError;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      retryable?: boolean;
      details?: NonNullable<WireError["details"]>;
      cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    const { details, retryable = false } = options;
    this.wire = { code, message, retryable, ...(details && { details }) };
  }
}
