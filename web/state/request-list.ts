// Requests and turns of a session in the order people read them.

import type { RequestId } from "../../shared/ids.ts";
import type { RequestRow, TurnRow } from "../../shared/protocol/rows.ts";

export type RequestEntry = readonly [id: RequestId, row: RequestRow];
export type TurnEntry = readonly [turnId: number, row: TurnRow];

export interface RequestList {
  /** What the transcript shows. */
  readonly shown: readonly RequestEntry[];
  readonly queued: readonly RequestEntry[];
  readonly undoneCount: number;
}

/** Taken out of the queue: the model never had its turn. */
export const isUnbegun = ({ state, startedAt }: RequestRow): boolean =>
  state === "cancelled" && startedAt === null;

/** There is more to say at its end than its answer. */
export const endedBadly = ({ state }: RequestRow): boolean =>
  state === "failed" || state === "interrupted" || state === "cancelled";

export function listRequests(rows: Readonly<Record<string, RequestRow>>): RequestList {
  // A request row's id is its request's id.
  const all = Object.entries(rows)
    .map(([id, row]) => [id as RequestId, row] as const)
    .sort(([, a], [, b]) => a.seq - b.seq);
  return {
    shown: all.filter(([, row]) => row.state !== "queued" && !row.undone),
    queued: all.filter(([, row]) => row.state === "queued"),
    undoneCount: all.filter(([, row]) => row.undone).length,
  };
}

export function turnsByRequest(
  rows: Readonly<Record<string, TurnRow>>,
): ReadonlyMap<string, readonly TurnEntry[]> {
  const turns = new Map<string, TurnEntry[]>();
  const all = Object.entries(rows).map(([id, row]) => [Number(id), row] as const);
  for (const entry of all.sort(([a], [b]) => a - b)) {
    const { requestId } = entry[1];
    const ofRequest = turns.get(requestId);
    if (ofRequest) ofRequest.push(entry);
    else turns.set(requestId, [entry]);
  }
  return turns;
}

/** Same turns in the same states: nothing to draw again. */
export function sameTurns(
  a: readonly TurnEntry[] | undefined,
  b: readonly TurnEntry[] | undefined,
): boolean {
  if (a === b) return true;
  if (!a || !b || a.length !== b.length) return false;
  return a.every(([id, row], at) => b[at]?.[0] === id && b[at]?.[1] === row);
}
