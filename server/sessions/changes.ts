// What the commands of a session change: decisions over its facts, written in the command's transaction.

import type { CommandId, DeviceId, RequestId } from "../../shared/ids.ts";
import { PROMPT_MAX_BYTES } from "../../shared/limits.ts";
import { continueTarget, isBusy, redoTarget, undoTarget } from "../../shared/model/requests.ts";
import { titleFromPrompt } from "../../shared/model/title.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { RequestRow } from "../../shared/protocol/rows.ts";
import { utf8Length } from "../../shared/sanitize/cap-text.ts";
import { cleanText, wellFormed } from "../../shared/sanitize/clean-text.ts";
import type { Stored, WriteTx } from "../store/store.ts";
import { putRequest, requestIdOf, type SessionFacts } from "./ending.ts";

export interface NewRequest {
  readonly commandId: CommandId;
  readonly sentBy: DeviceId | null;
  readonly kind: RequestRow["kind"];
  readonly text: string;
  readonly now: number;
}

/** Throws `Failure` too_large, or bad_params for a prompt of nothing but space. */
export function checkPrompt(text: string): void {
  const bytes = utf8Length(text);
  if (bytes > PROMPT_MAX_BYTES) {
    throw new Failure(
      "too_large",
      `The prompt has ${bytes} bytes; at most ${PROMPT_MAX_BYTES} can be sent. Put long text into a file in the session's folder.`,
      { details: { bytes, max: PROMPT_MAX_BYTES } },
    );
  }
  if (text.trim() === "") {
    throw new Failure("bad_params", "The prompt is empty.", { details: { field: "text" } });
  }
}

/** A new request at the end of the queue; it begins with this change if nothing else runs or waits. */
export async function addRequest(
  tx: WriteTx,
  facts: SessionFacts,
  request: NewRequest,
): Promise<{ requestId: RequestId; queued: boolean }> {
  const queued = isBusy(facts.requests.map(({ row }) => row));
  const standing = facts.requests.filter(({ row }) => !row.undone);
  if (!facts.session.titled && standing.length === 0 && request.kind === "prompt") {
    facts.session = { ...facts.session, title: cleanText(titleFromPrompt(request.text)) };
  }
  // A request has the id of the command that made it (shared/ids.ts).
  const requestId = requestIdOf({ id: request.commandId });
  await putRequest(tx, facts, {
    id: requestId,
    row: {
      seq: Math.max(0, ...facts.requests.map(({ row }) => row.seq)) + 1,
      kind: request.kind,
      text: await tx.text(wellFormed(request.text)),
      sentBy: request.sentBy,
      state: "queued",
      undone: false,
      createdAt: request.now,
      startedAt: null,
      endedAt: null,
      error: null,
    },
  });
  facts.session = { ...facts.session, modifiedAt: request.now };
  return { requestId, queued };
}

/** Queued requests will not run. Resolves with those, in the order they were sent. */
export async function cancelQueued(
  tx: WriteTx,
  facts: SessionFacts,
  { only, now }: { only: RequestId | undefined; now: number },
): Promise<RequestId[]> {
  const cancelled: RequestId[] = [];
  for (const request of [...facts.requests]) {
    if (request.row.state !== "queued" || (only !== undefined && request.id !== only)) continue;
    await putRequest(tx, facts, {
      id: request.id,
      row: { ...request.row, state: "cancelled", endedAt: now },
    });
    cancelled.push(requestIdOf(request));
  }
  return cancelled;
}

export function requireRequest(facts: SessionFacts, requestId: RequestId): void {
  if (facts.requests.some((each) => each.id === requestId)) return;
  throw new Failure("request_gone", "This session has no such request.", {
    details: { requestId },
  });
}

export function requireContinuable(facts: SessionFacts): void {
  requireIdle(facts, "continue");
  if (continueTarget(facts.requests.map(({ row }) => row))) return;
  throw new Failure(
    "nothing_to_continue",
    "The last request has its answer, so there is nothing to continue.",
  );
}

export const undoLast = (tx: WriteTx, facts: SessionFacts): Promise<RequestId[]> => {
  requireIdle(facts, "undo");
  return setUndone(tx, facts, true);
};

export const redoFirst = (tx: WriteTx, facts: SessionFacts): Promise<RequestId[]> => {
  requireIdle(facts, "redo");
  return setUndone(tx, facts, false);
};

async function setUndone(tx: WriteTx, facts: SessionFacts, undone: boolean): Promise<RequestId[]> {
  const withId = facts.requests.map(({ id, row }) => ({ id, ...row }));
  const target = undone ? undoTarget(withId) : redoTarget(withId);
  const request: Stored<"request"> | undefined = facts.requests.find(
    (each) => each.id === target?.id,
  );
  if (!request) {
    throw undone
      ? new Failure("nothing_to_undo", "This session has no request to undo.")
      : new Failure("nothing_to_redo", "No request was undone since the last one.");
  }
  await putRequest(tx, facts, { id: request.id, row: { ...request.row, undone } });
  return [requestIdOf(request)];
}

function requireIdle(facts: SessionFacts, what: string): void {
  if (!isBusy(facts.requests.map(({ row }) => row))) return;
  throw new Failure(
    "session_busy",
    `A request is running or waiting here. Stop it before you ${what}.`,
    { retryable: true },
  );
}
