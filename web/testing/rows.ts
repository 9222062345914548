// Changes with everything in them that a test does not care about.

import type { CallId, CommandId, DeviceId, RequestId, SessionId } from "../../shared/ids.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import type {
  Change,
  DeviceRow,
  RequestRow,
  SessionRow,
  TextBody,
  ToolCall,
  ToolResultRow,
  TurnRow,
} from "../../shared/protocol/rows.ts";
import type { OutboxEntry } from "../../workers/client.ts";

export const sessionId = (n: number) => `session-${String(n).padStart(12, "0")}` as SessionId;
export const requestId = (n: number) => `request-${String(n).padStart(12, "0")}` as RequestId;
export const deviceId = (n: number) => `device-${String(n).padStart(12, "0")}` as DeviceId;

export const body = (text: string): TextBody => ({ head: text, size: text.length, blob: null });

export const sessionRow = (row: Partial<SessionRow> = {}): SessionRow => ({
  title: "A session",
  titled: true,
  workingDir: "/home/ada/code",
  shownDir: "~/code",
  branch: null,
  model: "builtin/guide",
  account: null,
  parentId: null,
  pinned: false,
  archivedAt: null,
  createdAt: 0,
  modifiedAt: 0,
  state: "idle",
  toolGroups: [],
  turnCount: 0,
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  ...row,
});

export const requestRow = (row: Partial<RequestRow> = {}): RequestRow => ({
  seq: 1,
  kind: "prompt",
  text: body("hello"),
  sentBy: null,
  state: "done",
  undone: false,
  createdAt: 0,
  startedAt: null,
  endedAt: null,
  error: null,
  ...row,
});

export const turnRow = (row: Partial<TurnRow> = {}): TurnRow => ({
  requestId: requestId(1),
  createdAt: 0,
  endedAt: 0,
  state: "done",
  model: "builtin/guide",
  answer: body(""),
  reasoning: body(""),
  reasoningMs: null,
  calls: [],
  usage: null,
  error: null,
  ...row,
});

export const toolCall = (callId: string, call: Partial<ToolCall> = {}): ToolCall => ({
  callId: callId as CallId,
  name: "read_file",
  arguments: "{}",
  description: `Call ${callId}`,
  state: "done",
  ...call,
});

export const toolResultRow = (callId: string, row: Partial<ToolResultRow> = {}): ToolResultRow => ({
  turnId: 1,
  callId: callId as CallId,
  name: "read_file",
  description: `Result ${callId}`,
  note: null,
  output: body(""),
  isError: false,
  durationMs: 5,
  ...row,
});

export const deviceRow = (row: Partial<DeviceRow> = {}): DeviceRow => ({
  name: "Chromium on Linux",
  role: "owner",
  publicKey: "",
  fingerprint: "",
  createdAt: 0,
  lastSeenAt: 0,
  revokedAt: null,
  ...row,
});

export const deviceChange = (rev: number, n: number, row: DeviceRow | null): Change => ({
  rev,
  kind: "device",
  sessionId: null,
  id: deviceId(n),
  row,
});

export const sessionChange = (rev: number, n: number, row: SessionRow | null): Change => ({
  rev,
  kind: "session",
  sessionId: sessionId(n),
  id: sessionId(n),
  row,
});

export const shareChange = (rev: number, n: number, id: string, expiresAt: number): Change => ({
  rev,
  kind: "share",
  sessionId: sessionId(n),
  id,
  row: { createdAt: 0, createdBy: null, expiresAt },
});

/** Null: that device's grant is taken back. */
export const grantChange = (
  rev: number,
  n: number,
  device: number,
  shareId: string | null,
): Change => ({
  rev,
  kind: "grant",
  sessionId: sessionId(n),
  id: deviceId(device),
  row: shareId === null ? null : { shareId, createdAt: 0 },
});

export const requestChange = (rev: number, n: number, row: RequestRow | null): Change => ({
  rev,
  kind: "request",
  sessionId: sessionId(1),
  id: requestId(n),
  row,
});

export const turnChange = (rev: number, turnId: number, row: TurnRow | null): Change => ({
  rev,
  kind: "turn",
  sessionId: sessionId(1),
  id: String(turnId),
  row,
});

export const outboxEntry = (
  method: CommandMethod,
  params: unknown,
  commandId = "command-0000000000",
): OutboxEntry => ({
  commandId: commandId as CommandId,
  method,
  params,
  state: "waiting",
  createdAt: 50,
});

export const refusedEntry = (
  method: CommandMethod,
  params: unknown,
  commandId?: string,
): OutboxEntry => ({
  ...outboxEntry(method, params, commandId),
  state: "refused",
  error: { code: "too_large", message: "The test refused it", retryable: false },
});
