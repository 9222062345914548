// How a request ends and the next one begins: the rows, within the caller's transaction. Used by
// the session that runs it, and by the repair of what a dead daemon left behind.

import { assertNever } from "../../shared/assert-never.ts";
import type { RequestId, SessionId } from "../../shared/ids.ts";
import { runNext, sessionState } from "../../shared/model/requests.ts";
import { addUsage } from "../../shared/model/usage.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { Part } from "../../shared/protocol/live-events.ts";
import {
  type ToolCall,
  type TurnRow,
  toolResultRowId,
  turnRowId,
  type Usage,
} from "../../shared/protocol/rows.ts";
import type { Stored, WriteTx } from "../store/store.ts";
import { newTurn } from "./messages.ts";
import { boundOutput } from "./tool-output.ts";

export const DISK_FAILED: WireError = {
  code: "disk_failed",
  message:
    "The daemon could not write to its database: the disk is full or not writable. Make room and try again.",
  retryable: true,
};

export type RequestEnd =
  | { state: "done" }
  | { state: "cancelled" }
  | { state: "failed"; error: WireError }
  | { state: "interrupted"; error: WireError };

/** The turn that was under way when its request ended. */
export interface OpenTurn {
  readonly turnId: number;
  readonly row: TurnRow;
  /** What was streamed of a part. */
  text(part: Part): string;
  readonly usage: Usage | null;
  readonly reasoningMs: number | null;
}

/** A session's rows that its commands decide by, read in the transaction that changes them. */
export interface SessionFacts {
  readonly sessionId: SessionId;
  session: Stored<"session">["row"];
  readonly requests: Stored<"request">[];
}

export interface Begun {
  readonly requestId: RequestId;
  readonly turnId: number;
  readonly turn: TurnRow;
  readonly turnRev: number;
}

/** The turn's last row: text kept, calls that have no result yet given one that says why. */
export async function endTurn(
  tx: WriteTx,
  sessionId: SessionId,
  open: OpenTurn,
  ending: { end: RequestEnd; now: number },
): Promise<void> {
  const { end, now } = ending;
  if (open.row.state !== "streaming" && open.row.state !== "calling") return;
  const calls: ToolCall[] = [];
  for (const call of open.row.calls) {
    if (call.state === "pending") await recordUnfinished(tx, sessionId, open, { call, ...ending });
    calls.push(call.state === "pending" ? { ...call, state: unfinishedState(end) } : call);
  }
  const isStreaming = open.row.state === "streaming";
  await tx.put("turn", sessionId, turnRowId(open.turnId), {
    ...open.row,
    endedAt: now,
    state: end.state,
    calls,
    answer: isStreaming ? await tx.text(open.text("answer")) : open.row.answer,
    reasoning: isStreaming ? await tx.text(open.text("reasoning")) : open.row.reasoning,
    reasoningMs: open.row.reasoningMs ?? open.reasoningMs,
    usage: open.row.usage ?? open.usage,
    error: end.state === "failed" ? end.error : null,
  });
  await tx.dropStream(sessionId, open.turnId);
}

function unfinishedState(end: RequestEnd): ToolCall["state"] {
  switch (end.state) {
    case "cancelled":
    case "interrupted":
      return end.state;
    case "done":
    case "failed":
      return "failed";
    default:
      return assertNever(end);
  }
}

async function recordUnfinished(
  tx: WriteTx,
  sessionId: SessionId,
  open: OpenTurn,
  { call, end, now }: { call: ToolCall; end: RequestEnd; now: number },
): Promise<void> {
  const why =
    end.state === "cancelled"
      ? "cancelled: the user stopped this before it finished."
      : end.state === "interrupted"
        ? "interrupted: the daemon stopped before this finished."
        : "failed: the request ended before this finished.";
  const partial = open.text(`output:${call.callId}`);
  await tx.put("toolResult", sessionId, toolResultRowId(open.turnId, call.callId), {
    turnId: open.turnId,
    callId: call.callId,
    name: call.name,
    description: call.description,
    note: unfinishedState(end),
    output: await tx.text(boundOutput(partial === "" ? why : `${partial}\n${why}`)),
    isError: true,
    durationMs: Math.max(0, now - open.row.createdAt),
  });
}

/** Changes requests both in the store and in `facts`. */
export async function putRequest(
  tx: WriteTx,
  facts: SessionFacts,
  request: Pick<Stored<"request">, "id" | "row">,
): Promise<void> {
  const rev = await tx.put("request", facts.sessionId, request.id, request.row);
  const stored = { rev, sessionId: facts.sessionId, id: request.id, row: request.row };
  const at = facts.requests.findIndex((each) => each.id === request.id);
  if (at < 0) facts.requests.push(stored);
  else facts.requests[at] = stored;
}

export interface Ending {
  readonly end: RequestEnd;
  readonly now: number;
  /** The last turn it led to. */
  readonly lastTurnId: number;
  /** Of all its turns. */
  readonly usage: Usage;
}

/** Ends a request and counts what it used towards the session, whose row `putSession` writes. */
export async function endRequest(
  tx: WriteTx,
  facts: SessionFacts,
  request: Stored<"request">,
  { end, now, lastTurnId, usage }: Ending,
): Promise<void> {
  await putRequest(tx, facts, {
    id: request.id,
    row: {
      ...request.row,
      state: end.state,
      endedAt: now,
      error: end.state === "failed" || end.state === "interrupted" ? end.error : null,
    },
  });
  facts.session = {
    ...facts.session,
    modifiedAt: now,
    turnCount: Math.max(facts.session.turnCount, lastTurnId),
    usage: addUsage(facts.session.usage, usage),
  };
}

/**
 * Makes the next queued request run, if none does: its row, and its first turn's. While none runs,
 * the session's turnCount is the id of its last turn.
 */
export async function beginNext(
  tx: WriteTx,
  facts: SessionFacts,
  now: number,
): Promise<Begun | null> {
  const next = runNext(facts.requests.map(({ id, row }) => ({ id, ...row })));
  const request = facts.requests.find((each) => each.id === next?.id);
  if (!request) return null;
  await putRequest(tx, facts, {
    id: request.id,
    row: { ...request.row, state: "running", startedAt: now },
  });
  const requestId = requestIdOf(request);
  const turn = newTurn(requestId, facts.session.model, now);
  const turnId = facts.session.turnCount + 1;
  const turnRev = await tx.put("turn", facts.sessionId, turnRowId(turnId), turn);
  return { requestId, turnId, turn, turnRev };
}

/** Writes the session's row with the state that its requests give it. */
export const putSession = (tx: WriteTx, facts: SessionFacts): Promise<number> =>
  tx.put("session", facts.sessionId, facts.sessionId, {
    ...facts.session,
    state: sessionState(facts.requests.map(({ row }) => row)),
  });

/** A request's row id is its request id (shared/protocol/rows.ts). */
export const requestIdOf = (request: Pick<Stored<"request">, "id">): RequestId =>
  request.id as RequestId;
