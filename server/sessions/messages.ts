// Turns the rows of a session into the messages a model is given.

import { isStanding } from "../../shared/model/requests.ts";
import type { RequestRow, ToolCall, ToolResultRow, TurnRow } from "../../shared/protocol/rows.ts";
import type { ModelMessage } from "../providers/provider.ts";
import type { ReadTx, Stored } from "../store/store.ts";

/** Stands in the place of a prompt when the user asked to go on. */
export const CONTINUE_TEXT = "Continue from where you stopped.";

export interface TranscriptRows {
  readonly requests: readonly Stored<"request">[];
  readonly turns: readonly Stored<"turn">[];
  readonly results: readonly Stored<"toolResult">[];
}

/**
 * All that stands, in order: requests that were undone or did not begin are left out, text of
 * cancelled, failed and interrupted turns is kept, and every call has a result. Texts are read whole through `tx`.
 */
export async function buildMessages(
  tx: Pick<ReadTx, "wholeText">,
  rows: TranscriptRows,
): Promise<ModelMessage[]> {
  const turnsByRequest = new Map<string, Stored<"turn">[]>();
  for (const turn of [...rows.turns].sort((a, b) => Number(a.id) - Number(b.id))) {
    const turns = turnsByRequest.get(turn.row.requestId) ?? [];
    turnsByRequest.set(turn.row.requestId, [...turns, turn]);
  }
  const resultsByCall = new Map(rows.results.map((result) => [result.id, result.row]));
  const messages: ModelMessage[] = [];
  const standing = rows.requests
    .filter(({ row }) => isStanding(row) && row.state !== "queued")
    .sort((a, b) => a.row.seq - b.row.seq);
  for (const request of standing) {
    messages.push({ role: "user", text: await promptText(tx, request.row) });
    for (const turn of turnsByRequest.get(request.id) ?? []) {
      messages.push(...(await turnMessages(tx, turn, resultsByCall)));
    }
  }
  return messages;
}

const promptText = async (tx: Pick<ReadTx, "wholeText">, request: RequestRow): Promise<string> =>
  request.kind === "continue" ? CONTINUE_TEXT : tx.wholeText(request.text);

async function turnMessages(
  tx: Pick<ReadTx, "wholeText">,
  turn: Stored<"turn">,
  resultsByCall: ReadonlyMap<string, ToolResultRow>,
): Promise<ModelMessage[]> {
  const text = await tx.wholeText(turn.row.answer);
  const { calls } = turn.row;
  if (text === "" && calls.length === 0) return [];
  const messages: ModelMessage[] = [assistantMessage(text, calls)];
  for (const call of calls) {
    const result = resultsByCall.get(`${turn.id}/${call.callId}`);
    messages.push({
      role: "tool",
      callId: call.callId,
      name: call.name,
      text: result ? await tx.wholeText(result.output) : "No result was recorded.",
      isError: result?.isError ?? true,
    });
  }
  return messages;
}

export const assistantMessage = (
  text: string,
  calls: readonly Pick<ToolCall, "callId" | "name" | "arguments">[],
): ModelMessage => ({
  role: "assistant",
  text,
  calls: calls.map((call) => ({ callId: call.callId, name: call.name, arguments: call.arguments })),
});

/** A turn's row as it stands when the turn begins. */
export const newTurn = (
  requestId: TurnRow["requestId"],
  model: string,
  createdAt: number,
): TurnRow => ({
  requestId,
  createdAt,
  endedAt: null,
  state: "streaming",
  model,
  answer: { head: "", size: 0, blob: null },
  reasoning: { head: "", size: 0, blob: null },
  reasoningMs: null,
  calls: [],
  usage: null,
  error: null,
});
