import { expect, it } from "vitest";
import { sessionId } from "../testing/rows.ts";
import type { ListedSession } from "./pending.ts";
import { groupSessions } from "./session-groups.ts";

const NOW = new Date(2026, 10, 18, 9, 30).getTime();
const HOUR = 3_600_000;

const session = (n: number, more: Partial<ListedSession> = {}): ListedSession => ({
  id: sessionId(n),
  title: `Session ${n}`,
  shownDir: "~/code/atlas",
  state: "idle",
  pinned: false,
  archived: false,
  modifiedAt: NOW,
  ...more,
});

const titles = (sessions: readonly ListedSession[], filter = "") =>
  Object.fromEntries(
    Object.entries(groupSessions(sessions, filter, NOW))
      .filter(([, group]) => group.length > 0)
      .map(([name, group]) => [name, group.map(({ title }) => title)]),
  );

it("groups by pin, calendar day and archive", () => {
  expect(
    titles([
      session(1),
      session(2, { modifiedAt: NOW - 9 * HOUR }),
      session(3, { modifiedAt: NOW - 10 * HOUR }),
      session(4, { modifiedAt: NOW - 33 * HOUR }),
      session(5, { modifiedAt: NOW - 34 * HOUR }),
      session(6, { pinned: true, modifiedAt: 0 }),
      session(7, { archived: true, pinned: true }),
    ]),
  ).toEqual({
    Pinned: ["Session 6"],
    Today: ["Session 1", "Session 2"],
    Yesterday: ["Session 3", "Session 4"],
    Earlier: ["Session 5"],
    Archived: ["Session 7"],
  });
});

it("keeps those that hold every word of the filter, in title or folder", () => {
  const sessions = [session(1), session(2, { title: "Upload", shownDir: "/tmp" })];
  expect(titles(sessions, " ATLAS session ")).toEqual({ Today: ["Session 1"] });
  expect(titles(sessions, "upload atlas")).toEqual({});
});

it("[R5] keeps what waits for the daemon at the top, whatever day this device thinks it was written on", () => {
  const waiting = session(2, { state: "waiting", modifiedAt: NOW - 50 * HOUR });
  expect(titles([waiting, session(1)])).toEqual({ Today: ["Session 2", "Session 1"] });
});
