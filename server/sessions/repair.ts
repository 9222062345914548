// What a daemon that died left behind in a session is ended as interrupted, with the text that was
// saved (F8). Queued requests stay queued and run.

import { addUsage, NO_USAGE } from "../../shared/model/usage.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { SavedStream, WriteTx } from "../store/store.ts";
import { endRequest, endTurn, type SessionFacts } from "./ending.ts";

export const INTERRUPTED: WireError = {
  code: "interrupted",
  message: "The daemon stopped while this request ran. Continue to let it go on.",
  retryable: false,
};

export async function interruptLeftovers(
  tx: WriteTx,
  facts: SessionFacts,
  leftBehind: { saved: readonly SavedStream[]; now: number },
): Promise<void> {
  const running = facts.requests.filter(({ row }) => row.state === "running");
  if (running.length === 0) return;
  const { now, saved } = leftBehind;
  const end = { state: "interrupted", error: INTERRUPTED } as const;
  const turns = await tx.rows("turn", facts.sessionId);
  for (const request of running) {
    const own = turns.filter(({ row }) => row.requestId === request.id);
    for (const turn of own) {
      const turnId = Number(turn.id);
      const stream = saved.find(
        (each) => each.sessionId === facts.sessionId && each.turnId === turnId,
      );
      const open = {
        turnId,
        row: turn.row,
        text: (part: keyof SavedStream["parts"]) => stream?.parts[part] ?? "",
        usage: null,
        reasoningMs: null,
      };
      await endTurn(tx, facts.sessionId, open, { end, now });
    }
    const lastTurnId = Math.max(0, ...own.map((turn) => Number(turn.id)));
    const usage = own.reduce((sum, { row }) => addUsage(sum, row.usage), NO_USAGE);
    await endRequest(tx, facts, request, { end, now, lastTurnId, usage });
  }
}
