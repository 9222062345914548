// The messages of the socket after the handshake (docs/protocol.md). MessagePack maps; unknown fields
// are ignored.

import * as z from "zod/mini";
import { ID_PATTERN } from "../ids.ts";
import { wireErrorSchema } from "./errors.ts";
import { liveEventSchema, watchPositionSchema } from "./live-events.ts";
import { changeSchema, deviceIdSchema, ROLES, sessionIdSchema } from "./rows.ts";

const revSchema = z.int().check(z.nonnegative());
const callIdSchema = z.int().check(z.nonnegative());
const pageTokenSchema = z.string().check(z.maxLength(64));

/** How much history a device keeps. `everything` is the only one so far. */
const scopeSchema = z.object({ kind: z.literal("everything") });

export const clientMessageSchema = z.discriminatedUnion("type", [
  /** First message of a connection. Without epoch, cursor and token: a device that holds nothing. */
  z.object({
    type: z.literal("hello"),
    epoch: z.nullable(z.string()),
    cursor: revSchema,
    token: z.nullable(pageTokenSchema),
    scope: scopeSchema,
  }),
  /** The page with this `upto` and `token` is applied and stored. */
  z.object({ type: z.literal("ack"), cursor: revSchema, token: pageTokenSchema }),
  z.object({
    type: z.literal("watch"),
    sessionId: sessionIdSchema,
    at: z.nullable(watchPositionSchema),
  }),
  z.object({ type: z.literal("unwatch"), sessionId: sessionIdSchema }),
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
    deviceId: z.nullable(deviceIdSchema),
    role: z.enum(ROLES),
    daemonName: z.string(),
    daemonVersion: z.string(),
    heartbeatMs: z.int(),
  }),
  z.object({
    type: z.literal("page"),
    changes: z.array(changeSchema),
    /** The cursor once this page is stored. */
    upto: revSchema,
    token: pageTokenSchema,
    /** Rows left after this page when it was made: 0 means caught up. */
    more: z.int(),
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
