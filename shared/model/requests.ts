// What may be undone, redone and continued in a session: pure rules over its requests, which the
// daemon decides by and the page offers by. Requests come in any order.

import type { RequestRow, SessionRow } from "../protocol/rows.ts";

export type RequestFacts = Pick<RequestRow, "seq" | "state" | "undone" | "startedAt">;

const newest = <R extends RequestFacts>(requests: readonly R[]): R | null =>
  requests.reduce<R | null>((best, each) => (best && best.seq > each.seq ? best : each), null);
const oldest = <R extends RequestFacts>(requests: readonly R[]): R | null =>
  requests.reduce<R | null>((best, each) => (best && best.seq < each.seq ? best : each), null);

const isUnfinished = (request: RequestFacts): boolean =>
  request.state === "running" || request.state === "queued";

export const isBusy = (requests: readonly RequestFacts[]): boolean => requests.some(isUnfinished);

/** The queued request whose turn it is, unless one is running. */
export function runNext<R extends RequestFacts>(requests: readonly R[]): R | null {
  if (requests.some((each) => each.state === "running")) return null;
  return oldest(requests.filter((each) => each.state === "queued"));
}

/** False for what was undone, and for what was taken out of the queue before it began. */
export const isStanding = (request: RequestFacts): boolean =>
  !request.undone && (request.state !== "cancelled" || request.startedAt !== null);

/** The newest request that stands. While the session is busy, undo is refused. */
export const undoTarget = <R extends RequestFacts>(requests: readonly R[]): R | null =>
  newest(requests.filter(isStanding));

/** The first of the requests undone since the last one that stands: a new prompt leaves none. */
export function redoTarget<R extends RequestFacts>(requests: readonly R[]): R | null {
  const standing = undoTarget(requests)?.seq ?? 0;
  return oldest(requests.filter((each) => each.undone && each.seq > standing));
}

/** The last standing request, if it ended without an answer. */
export function continueTarget<R extends RequestFacts>(requests: readonly R[]): R | null {
  const last = undoTarget(requests);
  const isOpenEnded =
    last?.state === "cancelled" || last?.state === "failed" || last?.state === "interrupted";
  return isOpenEnded && !isBusy(requests) ? last : null;
}

export const canUndo = (requests: readonly RequestFacts[]): boolean =>
  !isBusy(requests) && undoTarget(requests) !== null;
export const canRedo = (requests: readonly RequestFacts[]): boolean =>
  !isBusy(requests) && redoTarget(requests) !== null;

/** A session is running while a request runs or waits; else the last standing request's end decides. */
export function sessionState(requests: readonly RequestFacts[]): SessionRow["state"] {
  if (isBusy(requests)) return "running";
  const last = undoTarget(requests)?.state;
  return last === "failed" || last === "interrupted" ? last : "idle";
}
