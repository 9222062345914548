// What a request's turns show, in order: reasoning, answer, tool calls. Calls of turns that said
// nothing in between stand together, so that a run of quiet ones can fold into one line.

import type { CallId } from "../../shared/ids.ts";
import type { TextBody, ToolResultRow, TurnRow } from "../../shared/protocol/rows.ts";

export interface ShownCall {
  /** `turnId/callId`, as the result's row id. */
  readonly id: string;
  readonly turnId: number;
  readonly callId: CallId;
  readonly name: string;
  readonly description: string;
  readonly state: "pending" | "done" | "failed" | "cancelled" | "interrupted";
  readonly note: string | null;
  readonly durationMs: number | null;
  readonly output: TextBody | null;
}

export type TranscriptItem =
  | { kind: "reasoning"; key: string; turnId: number }
  | { kind: "answer"; key: string; turnId: number }
  | { kind: "calls"; key: string; turnId: number; calls: ShownCall[] };

export type CallRun =
  | { kind: "single"; key: string; call: ShownCall }
  | { kind: "folded"; key: string; calls: ShownCall[] };

const FOLD_MIN_CALLS = 3;

/** A turn that runs may yet say something; one that ended empty said nothing. */
const says = (turn: TurnRow, body: TextBody) => body.size > 0 || turn.state === "streaming";

function shownCalls(
  turnId: number,
  turn: TurnRow,
  results: Readonly<Record<string, ToolResultRow>>,
): ShownCall[] {
  return turn.calls.map((call) => {
    const id = `${turnId}/${call.callId}`;
    const result = results[id];
    return {
      id,
      turnId,
      callId: call.callId,
      name: call.name,
      description: result?.description ?? call.description,
      state: call.state === "pending" && result ? (result.isError ? "failed" : "done") : call.state,
      note: result?.note ?? null,
      durationMs: result?.durationMs ?? null,
      output: result?.output ?? null,
    };
  });
}

/** `turns` in the order of their ids. */
export function transcriptItems(
  turns: readonly (readonly [number, TurnRow])[],
  results: Readonly<Record<string, ToolResultRow>>,
): TranscriptItem[] {
  const items: TranscriptItem[] = [];
  for (const [turnId, turn] of turns) {
    if (says(turn, turn.reasoning)) {
      items.push({ kind: "reasoning", key: `r${turnId}`, turnId });
    }
    if (says(turn, turn.answer)) items.push({ kind: "answer", key: `a${turnId}`, turnId });
    const calls = shownCalls(turnId, turn, results);
    if (calls.length === 0) continue;
    const last = items.at(-1);
    if (last?.kind === "calls") last.calls.push(...calls);
    else items.push({ kind: "calls", key: `c${turnId}`, turnId, calls });
  }
  return items;
}

/** Three or more finished calls in a row become one line; whatever runs or failed stands alone. */
export function foldCalls(calls: readonly ShownCall[]): CallRun[] {
  const runs: CallRun[] = [];
  let quiet: ShownCall[] = [];
  const flush = () => {
    const first = quiet[0];
    if (first && quiet.length >= FOLD_MIN_CALLS) {
      runs.push({ kind: "folded", key: `f${first.id}`, calls: quiet });
    } else {
      for (const call of quiet) runs.push({ kind: "single", key: call.id, call });
    }
    quiet = [];
  };
  for (const call of calls) {
    if (call.state === "done") {
      quiet.push(call);
    } else {
      flush();
      runs.push({ kind: "single", key: call.id, call });
    }
  }
  flush();
  return runs;
}
