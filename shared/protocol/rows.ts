// The durable rows of the change feed (docs/protocol.md). One schema yields type and guard.
// Session id, row id and rev live on the envelope (`Change`), never in a row.

import * as z from "zod/mini";
import {
  BLOB_HASH_PATTERN,
  type BlobHash,
  CALL_ID_PATTERN,
  type CallId,
  type DeviceId,
  ID_PATTERN,
  type RequestId,
  type SessionId,
} from "../ids.ts";
import { branded } from "./branded.ts";
import { wireErrorSchema } from "./errors.ts";

export const sessionIdSchema = branded<SessionId>(ID_PATTERN);
export const requestIdSchema = branded<RequestId>(ID_PATTERN);
export const deviceIdSchema = branded<DeviceId>(ID_PATTERN);
export const callIdSchema = branded<CallId>(CALL_ID_PATTERN);
export const blobHashSchema = branded<BlobHash>(BLOB_HASH_PATTERN);
/** Milliseconds since the epoch, by the daemon's clock. For show only: order is rev's, seq's and turn ids' affair. */
const timeSchema = z.int();
const countSchema = z.int().check(z.nonnegative());

/** A text that may be long. `blob` null: `head` is all of it; else `head` is how it begins. */
const textBodySchema = z.object({
  head: z.string(),
  /** UTF-8 bytes of the whole text. */
  size: countSchema,
  blob: z.nullable(blobHashSchema),
});
export type TextBody = z.infer<typeof textBodySchema>;

const usageSchema = z.object({
  inputTokens: countSchema,
  outputTokens: countSchema,
  cachedTokens: countSchema,
});
export type Usage = z.infer<typeof usageSchema>;

const sessionRowSchema = z.object({
  title: z.string(),
  /** False while the title is only the start of the first prompt. */
  titled: z.boolean(),
  workingDir: z.string(),
  /** workingDir for people: the daemon's home folder as `~`. */
  shownDir: z.string(),
  /** The git branch of workingDir when it was last looked at. */
  branch: z.nullable(z.string()),
  /** `provider/model`. */
  model: z.string(),
  account: z.nullable(z.string()),
  parentId: z.nullable(sessionIdSchema),
  pinned: z.boolean(),
  archivedAt: z.nullable(timeSchema),
  createdAt: timeSchema,
  /** Moves on creation, when a request is accepted or ends, and on a rename: never by looking. */
  modifiedAt: timeSchema,
  state: z.enum(["idle", "running", "failed", "interrupted"]),
  toolGroups: z.array(z.string()),
  turnCount: countSchema,
  usage: usageSchema,
});
export type SessionRow = z.infer<typeof sessionRowSchema>;

const requestRowSchema = z.object({
  /** Order within the session, from 1, given by the daemon. */
  seq: countSchema,
  /** `continue`: the user asked the model to go on after an interrupted, cancelled or failed request. */
  kind: z.enum(["prompt", "continue"]),
  text: textBodySchema,
  sentBy: z.nullable(deviceIdSchema),
  state: z.enum(["queued", "running", "done", "cancelled", "failed", "interrupted"]),
  undone: z.boolean(),
  createdAt: timeSchema,
  startedAt: z.nullable(timeSchema),
  endedAt: z.nullable(timeSchema),
  error: z.nullable(wireErrorSchema),
});
export type RequestRow = z.infer<typeof requestRowSchema>;

const toolCallSchema = z.object({
  callId: callIdSchema,
  name: z.string(),
  /** JSON text as the model wrote it. */
  arguments: z.string(),
  /** One sentence for people; `code spans` in backticks. The result may carry a better one. */
  description: z.string(),
  /** `pending` until the call's toolResult row says how it ended. */
  state: z.enum(["pending", "done", "failed", "cancelled", "interrupted"]),
});
export type ToolCall = z.infer<typeof toolCallSchema>;

const turnRowSchema = z.object({
  requestId: requestIdSchema,
  createdAt: timeSchema,
  endedAt: z.nullable(timeSchema),
  /** `streaming`: text comes as live chunks until the row changes again. */
  state: z.enum(["streaming", "calling", "done", "cancelled", "failed", "interrupted"]),
  /** `provider/model` that answered. */
  model: z.string(),
  answer: textBodySchema,
  reasoning: textBodySchema,
  reasoningMs: z.nullable(countSchema),
  calls: z.array(toolCallSchema),
  usage: z.nullable(usageSchema),
  error: z.nullable(wireErrorSchema),
});
export type TurnRow = z.infer<typeof turnRowSchema>;

const toolResultRowSchema = z.object({
  turnId: countSchema,
  callId: callIdSchema,
  name: z.string(),
  /** Finished sentence for people, e.g. "Searched `upload` in 214 files". */
  description: z.string(),
  /** Short outcome for the right edge, e.g. "3 failed"; null: only the duration is of interest. */
  note: z.nullable(z.string()),
  output: textBodySchema,
  isError: z.boolean(),
  durationMs: countSchema,
});
export type ToolResultRow = z.infer<typeof toolResultRowSchema>;

export const ROLES = ["owner", "guest", "viewer"] as const;

const deviceRowSchema = z.object({
  name: z.string(),
  role: z.enum(ROLES),
  /** X25519 public key, base64url. */
  publicKey: z.string(),
  fingerprint: z.string(),
  createdAt: timeSchema,
  lastSeenAt: timeSchema,
  revokedAt: z.nullable(timeSchema),
});
export type DeviceRow = z.infer<typeof deviceRowSchema>;

/**
 * A link by which devices become viewers of one session. Its row id is the SHA-256 of the link's secret,
 * the first 16 bytes in base64url: the secret itself is never stored.
 */
const shareRowSchema = z.object({
  createdAt: timeSchema,
  createdBy: z.nullable(deviceIdSchema),
  /** The daemon removes the share, and what was granted by it, then. */
  expiresAt: z.nullable(timeSchema),
});
export type ShareRow = z.infer<typeof shareRowSchema>;

/** A viewer that sees a session, by the share with this id. Its row id is the viewer's device id. */
const grantRowSchema = z.object({ shareId: z.string(), createdAt: timeSchema });
export type GrantRow = z.infer<typeof grantRowSchema>;

export interface RowByKind {
  session: SessionRow;
  request: RequestRow;
  turn: TurnRow;
  toolResult: ToolResultRow;
  device: DeviceRow;
  share: ShareRow;
  grant: GrantRow;
}
export type RowKind = keyof RowByKind;

const envelope = { rev: z.int().check(z.positive()) };
const sessionScoped = { ...envelope, sessionId: sessionIdSchema };

/**
 * One entry of a page: the last state of one row, or `row: null`, a tombstone.
 * `id`: session → its session id; request → its request id; turn → its turn id in decimal;
 * toolResult → `turnId/callId`; device → its device id; share → its hash; grant → the viewer's device id.
 * A session's tombstone stands for all rows of that session.
 */
export const changeSchema = z.discriminatedUnion("kind", [
  z.object({
    ...sessionScoped,
    kind: z.literal("session"),
    id: z.string(),
    row: z.nullable(sessionRowSchema),
  }),
  z.object({
    ...sessionScoped,
    kind: z.literal("request"),
    id: z.string(),
    row: z.nullable(requestRowSchema),
  }),
  z.object({
    ...sessionScoped,
    kind: z.literal("turn"),
    id: z.string(),
    row: z.nullable(turnRowSchema),
  }),
  z.object({
    ...sessionScoped,
    kind: z.literal("toolResult"),
    id: z.string(),
    row: z.nullable(toolResultRowSchema),
  }),
  z.object({
    ...sessionScoped,
    kind: z.literal("share"),
    id: z.string(),
    row: z.nullable(shareRowSchema),
  }),
  z.object({
    ...sessionScoped,
    kind: z.literal("grant"),
    id: z.string(),
    row: z.nullable(grantRowSchema),
  }),
  z.object({
    ...envelope,
    kind: z.literal("device"),
    sessionId: z.null(),
    id: z.string(),
    row: z.nullable(deviceRowSchema),
  }),
]);
export type Change = z.infer<typeof changeSchema>;

export const rowSchemas = {
  session: sessionRowSchema,
  request: requestRowSchema,
  turn: turnRowSchema,
  toolResult: toolResultRowSchema,
  device: deviceRowSchema,
  share: shareRowSchema,
  grant: grantRowSchema,
} as const satisfies Record<RowKind, unknown>;

/** A session's bodies: what a device may leave out. All other rows come to whoever may see them. */
export const BODY_KINDS = ["request", "turn", "toolResult"] as const satisfies RowKind[];
export const isBodyKind = (kind: string): boolean => BODY_KINDS.some((body) => body === kind);

export const turnRowId = (turnId: number): string => String(turnId);
export const toolResultRowId = (turnId: number, callId: CallId): string => `${turnId}/${callId}`;

/** Every blob a row refers to, in no order, repeats included. */
export function blobsOfRow(row: RowByKind[RowKind]): BlobHash[] {
  const bodies: TextBody[] = [];
  if ("text" in row) bodies.push(row.text);
  if ("answer" in row) bodies.push(row.answer, row.reasoning);
  if ("output" in row) bodies.push(row.output);
  return bodies.flatMap((body) => (body.blob === null ? [] : [body.blob]));
}
