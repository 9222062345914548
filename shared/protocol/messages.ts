// The messages of the socket after the handshake (docs/protocol.md). MessagePack maps; unknown fields
// are ignored.

import * as z from "zod/mini";
import { ID_PATTERN } from "../ids.ts";
import { LEFT_OUT_MAX, LOOKS_MAX, MESSAGE_MAX_BYTES } from "../limits.ts";
import { wireErrorSchema } from "./errors.ts";
import { liveEventSchema, watchPositionSchema } from "./live-events.ts";
import { changeSchema, deviceIdSchema, ROLES, sessionIdSchema } from "./rows.ts";

const revSchema = z.int().check(z.nonnegative());
const callIdSchema = z.int().check(z.nonnegative());
const pageTokenSchema = z.string().check(z.maxLength(64));

/**
 * How much a device keeps (F9). Left out are the bodies (requests, turns, tool results) of the sessions in
 * `except`, and with `days` those of sessions neither pinned nor modified for that long, by the daemon's
 * clock. Both at their widest: everything.
 */
export const scopeSchema = z.object({
  days: z.nullable(z.int().check(z.positive())),
  except: z.array(sessionIdSchema).check(z.maxLength(LEFT_OUT_MAX)),
});
export type Scope = z.infer<typeof scopeSchema>;

/** How a `packed` message is compressed: DEFLATE without header (RFC 1951). */
export const PACKINGS = ["deflate-raw"] as const;

export const clientMessageSchema = z.discriminatedUnion("type", [
  /** First message of a connection. Without epoch, cursor and token: a device that holds nothing. */
  z.object({
    type: z.literal("hello"),
    epoch: z.nullable(z.string()),
    cursor: revSchema,
    token: z.nullable(pageTokenSchema),
    scope: scopeSchema,
    /** The packings this client can read; the daemon ignores those it does not know. */
    packings: z.array(z.string()).check(z.maxLength(8)),
  }),
  /** The page with this `upto` and `token` is applied and stored. */
  z.object({ type: z.literal("ack"), cursor: revSchema, token: pageTokenSchema }),
  z.object({
    type: z.literal("watch"),
    sessionId: sessionIdSchema,
    at: z.nullable(watchPositionSchema),
  }),
  z.object({ type: z.literal("unwatch"), sessionId: sessionIdSchema }),
  /** From now on this session's bodies are wanted too: those there are come as `fill`, later ones in pages. */
  z.object({ type: z.literal("keep"), sessionId: sessionIdSchema }),
  /** From now on they are not. */
  z.object({ type: z.literal("leave"), sessionId: sessionIdSchema }),
  /** The sessions that someone sees at this device now, in place of those said before. */
  z.object({
    type: z.literal("look"),
    sessionIds: z.array(sessionIdSchema).check(z.maxLength(LOOKS_MAX)),
  }),
  z.object({
    type: z.literal("call"),
    id: callIdSchema,
    commandId: z.nullable(z.string().check(z.regex(ID_PATTERN))),
    method: z.string(),
    params: z.unknown(),
  }),
  /** Sent when nothing else was for HEARTBEAT_MS. */
  z.object({ type: z.literal("beat") }),
]);
export type ClientMessage = z.infer<typeof clientMessageSchema>;

export const daemonMessageSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("welcome"),
    epoch: z.string(),
    head: revSchema,
    /** True: forget the replica (never the outbox or drafts); pages start at rev 0. */
    resync: z.boolean(),
    /** Sessions whose bodies do not come in pages of this connection, unless it asks with `keep`. */
    leftOut: z.array(sessionIdSchema),
    deviceId: z.nullable(deviceIdSchema),
    role: z.enum(ROLES),
    daemonName: z.string(),
    daemonVersion: z.string(),
    heartbeatMs: z.int(),
    /** The daemon's clock, by which all its times are: words such as "2 min ago" go by it. */
    now: z.int(),
  }),
  z.object({
    type: z.literal("page"),
    changes: z.array(changeSchema),
    /** The cursor once this page is stored. */
    upto: revSchema,
    token: pageTokenSchema,
    /** Revs left after this page when it was made, of which some may hold no row: 0 means caught up. */
    more: z.int(),
    /**
     * From now on left out, as in `welcome`: sessions that became visible with this page, and those the client
     * left (V5).
     */
    leftOut: z.array(sessionIdSchema),
  }),
  /**
   * Rows of a session that was left out, in rev order, whatever their revs: the next part of all its bodies
   * as they are at `cursor`, which is the `upto` of the page before. They are no part of the feed.
   */
  z.object({
    type: z.literal("fill"),
    sessionId: sessionIdSchema,
    changes: z.array(changeSchema),
    cursor: revSchema,
    /** True for the first part: what is held of the session's bodies goes. */
    isFirst: z.boolean(),
    /** True for the last part: the session is whole. */
    isLast: z.boolean(),
  }),
  /** Another message, encoded and then compressed to `bytes`; `size`: its bytes before that. Never nested. */
  z.object({
    type: z.literal("packed"),
    packing: z.enum(PACKINGS),
    size: z.int().check(z.positive(), z.maximum(MESSAGE_MAX_BYTES)),
    bytes: z.instanceof(Uint8Array),
  }),
  z.object({ type: z.literal("live"), sessionId: sessionIdSchema, event: liveEventSchema }),
  z.object({ type: z.literal("result"), id: callIdSchema, value: z.unknown() }),
  /** `id` null: the message could not be told apart well enough to name a call. */
  z.object({ type: z.literal("failure"), id: z.nullable(callIdSchema), error: wireErrorSchema }),
  z.object({ type: z.literal("beat") }),
  z.object({ type: z.literal("shuttingDown") }),
  z.object({ type: z.literal("evicted"), queuedBytes: z.int() }),
]);
export type DaemonMessage = z.infer<typeof daemonMessageSchema>;
