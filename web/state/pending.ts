// What the outbox holds, as the page needs it: prompts not yet taken, and changes painted ahead on
// the rail until their rows come.

import type { SessionId } from "../../shared/ids.ts";
import type { SessionRow } from "../../shared/protocol/rows.ts";
import type { OutboxEntry } from "../../workers/client.ts";

export interface PendingPrompt {
  /** The id its request will have. */
  readonly id: string;
  readonly text: string;
  readonly state: OutboxEntry["state"];
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

const textParam = (entry: OutboxEntry, name: string): string | null => {
  const value = param(entry, name);
  return typeof value === "string" ? value : null;
};

/** The session an entry makes or acts on, if any. */
function sessionOf(entry: OutboxEntry): string | null {
  return entry.method === "session.create" ? entry.commandId : textParam(entry, "sessionId");
}

export function pendingPrompts(
  outbox: readonly OutboxEntry[],
  sessionId: SessionId,
): PendingPrompt[] {
  return outbox.flatMap((entry) => {
    if (entry.method !== "session.prompt" || sessionOf(entry) !== sessionId) return [];
    const text = textParam(entry, "text");
    return text === null ? [] : [{ id: entry.commandId, text, state: entry.state }];
  });
}

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
  const prompt = pendingPrompts(outbox, entry.commandId as string as SessionId)[0];
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

/**
 * Every session that is or is about to be, newest first. `coming`: those whose command was answered, in
 * case the answer came before the row.
 */
export function listSessions(
  rows: Readonly<Record<string, SessionRow>>,
  outbox: readonly OutboxEntry[],
  coming: readonly ListedSession[] = [],
): ListedSession[] {
  const sessionsById = new Map(Object.entries(rows).map(([id, row]) => [id, listed(id, row)]));
  for (const entry of outbox) {
    const id = sessionOf(entry);
    if (id === null) continue;
    const session = sessionsById.get(id);
    if (session) {
      const after = changed(session, entry);
      if (after) sessionsById.set(id, after);
      else sessionsById.delete(id);
    } else if (entry.method === "session.create") {
      sessionsById.set(id, created(entry, outbox));
    }
  }
  for (const session of coming) {
    if (!sessionsById.has(session.id)) sessionsById.set(session.id, session);
  }
  return [...sessionsById.values()].sort((a, b) => b.modifiedAt - a.modifiedAt);
}
