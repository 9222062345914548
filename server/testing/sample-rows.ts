// Rows for tests that are not about what stands in them.

import type { CallId, DeviceId, RequestId, SessionId } from "../../shared/ids.ts";
import type {
  DeviceRow,
  GrantRow,
  RequestRow,
  SessionRow,
  ShareRow,
  TextBody,
  ToolCall,
  ToolResultRow,
  TurnRow,
} from "../../shared/protocol/rows.ts";

const padded = (name: string) => name.padEnd(16, "-");
export const sampleSessionId = (name: string) => padded(name) as SessionId;
const sampleRequestId = (name: string) => padded(name) as RequestId;
export const sampleDeviceId = (name: string) => padded(name) as DeviceId;
export const sampleCallId = (name: string) => name as CallId;

export const plainText = (text: string): TextBody => ({
  head: text,
  size: new TextEncoder().encode(text).length,
  blob: null,
});

export const sampleSession = (changes: Partial<SessionRow> = {}): SessionRow => ({
  title: "A session",
  titled: true,
  workingDir: "/srv/project",
  shownDir: "/srv/project",
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
  ...changes,
});

export const sampleRequest = (changes: Partial<RequestRow> = {}): RequestRow => ({
  seq: 1,
  kind: "prompt",
  text: plainText("What is in this folder?"),
  sentBy: null,
  state: "running",
  undone: false,
  createdAt: 1,
  startedAt: 1,
  endedAt: null,
  error: null,
  ...changes,
});

export const sampleTurn = (changes: Partial<TurnRow> = {}): TurnRow => ({
  requestId: sampleRequestId("request"),
  createdAt: 1,
  endedAt: null,
  state: "streaming",
  model: "builtin/guide",
  answer: plainText(""),
  reasoning: plainText(""),
  reasoningMs: null,
  calls: [],
  usage: null,
  error: null,
  ...changes,
});

export const sampleCall = (name: string, changes: Partial<ToolCall> = {}): ToolCall => ({
  callId: sampleCallId(name),
  name: "grep",
  arguments: "{}",
  description: "Searched",
  state: "pending",
  ...changes,
});

export const sampleToolResult = (
  turnId: number,
  call: string,
  changes: Partial<ToolResultRow> = {},
): ToolResultRow => ({
  turnId,
  callId: sampleCallId(call),
  name: "grep",
  description: "Searched",
  note: null,
  output: plainText("nothing"),
  isError: false,
  durationMs: 1,
  ...changes,
});

export const sampleDevice = (changes: Partial<DeviceRow> = {}): DeviceRow => ({
  name: "A browser",
  role: "owner",
  publicKey: "key",
  fingerprint: "AAAA",
  createdAt: 1,
  lastSeenAt: 1,
  revokedAt: null,
  ...changes,
});

export const sampleShare = (changes: Partial<ShareRow> = {}): ShareRow => ({
  createdAt: 1,
  createdBy: null,
  expiresAt: null,
  ...changes,
});

export const sampleGrant = (changes: Partial<GrantRow> = {}): GrantRow => ({
  shareId: "a share",
  createdAt: 1,
  ...changes,
});
