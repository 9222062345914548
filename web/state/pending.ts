// What the outbox holds, as the page needs it: prompts not yet taken, changes painted ahead on the rail
// until their rows come, and what the daemon refused, until someone has read why.

import type { SessionId } from "../../shared/ids.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { SessionRow } from "../../shared/protocol/rows.ts";
import type { OutboxEntry } from "../../workers/client.ts";

export interface PendingPrompt {
  /** The id its request will have. */
  readonly id: string;
  readonly text: string;
  readonly state: OutboxEntry["state"];
  /** Why the daemon refused it; null if it did not. */
  readonly error: WireError | null;
}

/** A command that was refused and belongs to no session on the rail, or is no prompt. */
export interface Refusal {
  readonly id: string;
  readonly method: OutboxEntry["method"];
  /** The session it was for, if any. */
  readonly sessionId: string | null;
  readonly error: WireError;
  /** Of a prompt: what would be lost. */
  readonly text: string | null;
}

/** A session as the rail shows it: its row with what is still on its way laid over. */
export interface ListedSession {
  readonly id: SessionId;
  readonly title: string;
  readonly shownDir: string;
  readonly state: SessionRow["state"] | "waiting";
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly modifiedAt: number;
}

function param(entry: OutboxEntry, name: string): unknown {
  const { params } = entry;
  return typeof params === "object" && params !== null && name in params
    ? (params as Record<string, unknown>)[name]
    : undefined;
}

export const textParam = (entry: OutboxEntry, name: string): string | null => {
  const value = param(entry, name);
  return typeof value === "string" ? value : null;
};

/** The session an entry makes or acts on, if any. */
export function sessionOf(entry: OutboxEntry): string | null {
  return entry.method === "session.create" ? entry.commandId : textParam(entry, "sessionId");
}

export function pendingPrompts(outbox: readonly OutboxEntry[], sessionId: string): PendingPrompt[] {
  return outbox.flatMap((entry) => {
    if (entry.method !== "session.prompt" || sessionOf(entry) !== sessionId) return [];
    const text = textParam(entry, "text");
    const error = entry.state === "refused" ? entry.error : null;
    return text === null ? [] : [{ id: entry.commandId, text, state: entry.state, error }];
  });
}

/** What was refused and no session's page shows. */
export function strayRefusals(
  outbox: readonly OutboxEntry[],
  sessions: readonly ListedSession[],
): Refusal[] {
  const listed = new Set<string>(sessions.map(({ id }) => id));
  return outbox.flatMap((entry) => {
    if (entry.state !== "refused") return [];
    const { commandId: id, method, error } = entry;
    const sessionId = sessionOf(entry);
    const isPrompt = method === "session.prompt";
    if (isPrompt && listed.has(sessionId ?? "")) return [];
    const text = isPrompt ? textParam(entry, "text") : null;
    return [{ id, method, sessionId, error, text }];
  });
}

/** Commands that are still on their way. */
export const underWay = (outbox: readonly OutboxEntry[]): OutboxEntry[] =>
  outbox.filter(({ state }) => state !== "refused");

const listed = (id: string, row: SessionRow): ListedSession => ({
  id: id as SessionId,
  title: row.title,
  shownDir: row.shownDir,
  state: row.state,
  pinned: row.pinned,
  archived: row.archivedAt !== null,
  modifiedAt: row.modifiedAt,
});

function created(entry: OutboxEntry, outbox: readonly OutboxEntry[]): ListedSession {
  const prompt = pendingPrompts(outbox, entry.commandId)[0];
  return {
    id: entry.commandId as string as SessionId,
    title: textParam(entry, "title") ?? prompt?.text.split("\n")[0] ?? "New session",
    shownDir: textParam(entry, "workingDir") ?? "",
    state: "waiting",
    pinned: false,
    archived: false,
    modifiedAt: entry.createdAt,
  };
}

function changed(session: ListedSession, entry: OutboxEntry): ListedSession | null {
  switch (entry.method) {
    case "session.rename":
      return { ...session, title: textParam(entry, "title") ?? session.title };
    case "session.pin":
      return { ...session, pinned: param(entry, "pinned") === true };
    case "session.archive":
      return { ...session, archived: param(entry, "archived") === true };
    case "session.delete":
      return null;
    default:
      return session;
  }
}

export interface Listing {
  /** Those whose command was answered, in case the answer came before the row. */
  readonly coming: readonly ListedSession[];
  /** How far the clock that entries are dated by is ahead of the daemon's. */
  readonly clockAheadMs: number;
}

/** Every session that is or is about to be, newest first. */
export function listSessions(
  rows: Readonly<Record<string, SessionRow>>,
  outbox: readonly OutboxEntry[],
  { coming, clockAheadMs }: Listing = { coming: [], clockAheadMs: 0 },
): ListedSession[] {
  const sessionsById = new Map(Object.entries(rows).map(([id, row]) => [id, listed(id, row)]));
  for (const entry of underWay(outbox)) {
    const id = sessionOf(entry);
    if (id === null) continue;
    const session = sessionsById.get(id);
    if (session) {
      const after = changed(session, entry);
      if (after) sessionsById.set(id, after);
      else sessionsById.delete(id);
    } else if (entry.method === "session.create") {
      const modifiedAt = entry.createdAt - clockAheadMs;
      sessionsById.set(id, { ...created(entry, outbox), modifiedAt });
    }
  }
  for (const session of coming) {
    if (!sessionsById.has(session.id)) sessionsById.set(session.id, session);
  }
  // What this device dates itself comes first, whatever its clock says.
  const isWaiting = ({ state }: ListedSession) => Number(state === "waiting");
  return [...sessionsById.values()].sort(
    (a, b) => isWaiting(b) - isWaiting(a) || b.modifiedAt - a.modifiedAt,
  );
}
