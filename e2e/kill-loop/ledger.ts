// What the daemon has promised to somebody so far: what it answered, and what it showed as settled. None
// of it may be gone, or be different, after any kill.

import type { SessionId } from "../../shared/ids.ts";
import type { ErrorCode } from "../../shared/protocol/errors.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import type { Change } from "../../shared/protocol/rows.ts";

export interface Command {
  readonly commandId: string;
  readonly method: CommandMethod;
  readonly params: { readonly sessionId?: string; readonly [field: string]: unknown };
}

export interface Answered extends Command {
  readonly value: unknown;
}

/** How much of a text a client had seen, and when. */
export interface SeenText {
  text: string;
  readonly marks: { readonly at: number; readonly length: number }[];
}

export const keyOf = ({ kind, sessionId, id }: Pick<Change, "kind" | "sessionId" | "id">): string =>
  `${kind} ${sessionId ?? ""} ${id}`;

/** Field by field, in whatever order they come. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

export class Ledger {
  readonly faults: string[] = [];
  readonly answered = new Map<string, Answered>();
  readonly refused = new Map<string, { readonly command: Command; readonly code: ErrorCode }>();
  /** The newest rev of each row that any client stored. */
  readonly revs = new Map<string, number>();
  /** Finished tool results that any client stored. */
  readonly results = new Map<string, { readonly sessionId: SessionId; readonly row: string }>();
  readonly deleted = new Set<string>();
  /** In the order in which each session's owner issued them. */
  readonly titles = new Map<string, Command[]>();

  readonly accuse = (what: string): void => void this.faults.push(what);

  answer(command: Command, value: unknown): void {
    const { commandId, method, params } = command;
    const before = this.answered.get(commandId);
    if (before !== undefined && canonical(before.value) !== canonical(value)) {
      this.accuse(`[F5] ${method} ${commandId} was answered in two ways`);
    }
    if (this.refused.has(commandId)) {
      this.accuse(`[F5] ${method} ${commandId} was refused and then acted`);
    }
    this.answered.set(commandId, { ...command, value });
    if (method === "session.delete") this.deleted.add(String(params.sessionId));
  }

  refuse(command: Command, code: ErrorCode): void {
    const { commandId, method } = command;
    if (this.answered.has(commandId)) {
      this.accuse(
        `[F5] ${method} ${commandId} had acted and was refused (${code}) when sent again`,
      );
    }
    if (code === "internal" || code === "command_conflict" || code === "bad_message") {
      this.accuse(`${method} ${commandId} was refused: ${code}`);
    }
    this.refused.set(commandId, { command, code });
  }

  stored(change: Change): void {
    const key = keyOf(change);
    this.revs.set(key, Math.max(change.rev, this.revs.get(key) ?? 0));
    if (change.kind === "session" && change.row === null) this.deleted.add(change.sessionId);
    if (change.kind !== "toolResult" || change.row === null) return;
    const row = canonical(change.row);
    const before = this.results.get(key);
    if (before !== undefined && before.row !== row) this.accuse(`[F8] ${key} has changed`);
    this.results.set(key, { sessionId: change.sessionId, row });
  }
}
