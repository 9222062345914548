// Rows for tests, each valid, with what matters given.

import type { CallId, DeviceId, RequestId, SessionId } from "../../shared/ids.ts";
import {
  type Change,
  callIdSchema,
  type DeviceRow,
  deviceIdSchema,
  type RequestRow,
  requestIdSchema,
  type SessionRow,
  sessionIdSchema,
  type TextBody,
  type ToolResultRow,
  type TurnRow,
  toolResultRowId,
} from "../../shared/protocol/rows.ts";

export const sessionIdOf = (name: string): SessionId => sessionIdSchema.parse(name.padEnd(16, "_"));
export const requestIdOf = (name: string): RequestId => requestIdSchema.parse(name.padEnd(16, "_"));
export const deviceIdOf = (name: string): DeviceId => deviceIdSchema.parse(name.padEnd(16, "_"));
export const callIdOf = (name: string): CallId => callIdSchema.parse(name);

export const bodyOf = (text: string): TextBody => ({ head: text, size: text.length, blob: null });

/** A change whose rev the feed gives. */
export type Unnumbered = Change extends infer C
  ? C extends Change
    ? Omit<C, "rev">
    : never
  : never;

export function sessionRow(sessionId: SessionId, row: Partial<SessionRow> = {}): Unnumbered {
  return {
    kind: "session",
    sessionId,
    id: sessionId,
    row: {
      title: "A session",
      titled: true,
      workingDir: "/tmp",
      shownDir: "/tmp",
      branch: null,
      model: "builtin/guide",
      account: null,
      parentId: null,
      pinned: false,
      archivedAt: null,
      createdAt: 1,
      modifiedAt: 1,
      state: "idle",
      toolGroups: [],
      turnCount: 0,
      usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
      ...row,
    },
  };
}

export const noSession = (sessionId: SessionId): Unnumbered => ({
  kind: "session",
  sessionId,
  id: sessionId,
  row: null,
});

export function requestRow(
  sessionId: SessionId,
  id: RequestId,
  seq: number,
  row: Partial<RequestRow> = {},
): Unnumbered {
  return {
    kind: "request",
    sessionId,
    id,
    row: {
      seq,
      kind: "prompt",
      text: bodyOf(`Prompt ${seq}`),
      sentBy: null,
      state: "done",
      undone: false,
      createdAt: 1,
      startedAt: null,
      endedAt: null,
      error: null,
      ...row,
    },
  };
}

export function turnRow(
  sessionId: SessionId,
  turnId: number,
  requestId: RequestId,
  row: Partial<TurnRow> = {},
): Unnumbered {
  return {
    kind: "turn",
    sessionId,
    id: String(turnId),
    row: {
      requestId,
      createdAt: 1,
      endedAt: null,
      state: "done",
      model: "builtin/guide",
      answer: bodyOf(""),
      reasoning: bodyOf(""),
      reasoningMs: null,
      calls: [],
      usage: null,
      error: null,
      ...row,
    },
  };
}

export function toolResultRow(
  sessionId: SessionId,
  turnId: number,
  callId: CallId,
  row: Partial<ToolResultRow> = {},
): Unnumbered {
  return {
    kind: "toolResult",
    sessionId,
    id: toolResultRowId(turnId, callId),
    row: {
      turnId,
      callId,
      name: "list_files",
      description: "Listed `.`",
      note: null,
      output: bodyOf(""),
      isError: false,
      durationMs: 1,
      ...row,
    },
  };
}

export function deviceRow(id: DeviceId, row: Partial<DeviceRow> = {}): Unnumbered {
  return {
    kind: "device",
    sessionId: null,
    id,
    row: {
      name: "A browser",
      role: "owner",
      publicKey: "",
      fingerprint: "",
      createdAt: 1,
      lastSeenAt: 1,
      revokedAt: null,
      ...row,
    },
  };
}
