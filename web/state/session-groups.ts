// How the rail groups and filters sessions.

import type { ListedSession } from "./pending.ts";
import { startOfDay } from "./times.ts";

export const SESSION_GROUPS = ["Pinned", "Today", "Yesterday", "Earlier", "Archived"] as const;
export type SessionGroup = (typeof SESSION_GROUPS)[number];

const DAY_MS = 24 * 60 * 60_000;

function groupOf(session: ListedSession, today: number): SessionGroup {
  if (session.archived) return "Archived";
  if (session.pinned) return "Pinned";
  if (session.modifiedAt >= today || session.state === "waiting") return "Today";
  // Half a day before today's start lies in yesterday, however long daylight saving made it.
  const yesterday = startOfDay(today - DAY_MS / 2);
  return session.modifiedAt >= yesterday ? "Yesterday" : "Earlier";
}

const matches = (session: ListedSession, words: readonly string[]) => {
  const text = `${session.title} ${session.shownDir}`.toLowerCase();
  return words.every((word) => text.includes(word));
};

/** Sessions by group, in the order given, those that hold every word of the filter. */
export function groupSessions(
  sessions: readonly ListedSession[],
  filter: string,
  now: number,
): Record<SessionGroup, ListedSession[]> {
  const groups: Record<SessionGroup, ListedSession[]> = {
    Pinned: [],
    Today: [],
    Yesterday: [],
    Earlier: [],
    Archived: [],
  };
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const today = startOfDay(now);
  for (const session of sessions) {
    if (matches(session, words)) groups[groupOf(session, today)].push(session);
  }
  return groups;
}
