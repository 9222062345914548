import { describe, expect, it } from "vitest";
import { outboxEntry, refusedEntry, sessionId, sessionRow } from "../testing/rows.ts";
import { listSessions, pendingPrompts, strayRefusals, underWay } from "./pending.ts";

const NEW_ID = "command-0000000000";
const rows = {
  [sessionId(1)]: sessionRow({ title: "One", modifiedAt: 10 }),
  [sessionId(2)]: sessionRow({ title: "Two", modifiedAt: 20 }),
};

describe("listSessions", () => {
  it("lists the rows, newest first", () => {
    expect(listSessions(rows, []).map(({ title }) => title)).toEqual(["Two", "One"]);
  });

  it("lays over what the outbox is about to change", () => {
    const listed = listSessions(rows, [
      outboxEntry("session.rename", { sessionId: sessionId(1), title: "Renamed" }),
      outboxEntry("session.pin", { sessionId: sessionId(1), pinned: true }),
      outboxEntry("session.archive", { sessionId: sessionId(1), archived: true }),
      outboxEntry("session.delete", { sessionId: sessionId(2) }),
    ]);
    expect(listed).toMatchObject([{ title: "Renamed", pinned: true, archived: true }]);
  });

  it("shows a session that is still to be created under its first prompt's first line", () => {
    const outbox = [
      outboxEntry("session.create", { workingDir: "~/code" }),
      outboxEntry(
        "session.prompt",
        { sessionId: NEW_ID, text: "Look\naround" },
        "other-command-0000",
      ),
    ];
    expect(listSessions({}, outbox)).toMatchObject([
      { id: NEW_ID, title: "Look", shownDir: "~/code", state: "waiting" },
    ]);
  });

  it("[R5] puts a session that is still to be created first, whatever this device's clock says", () => {
    const created = { ...outboxEntry("session.create", { workingDir: "~/code" }), createdAt: 5 };
    const listed = listSessions(rows, [created], { coming: [], clockAheadMs: -10 });
    expect(listed.map(({ title }) => title)).toEqual(["New session", "Two", "One"]);
    expect(listed[0]?.modifiedAt).toBe(15);
  });

  it("[F1] lets the row speak once it is there, though the entry is not answered yet", () => {
    const outbox = [outboxEntry("session.create", { workingDir: "~/code" }, sessionId(1))];
    expect(listSessions(rows, outbox)).toMatchObject([
      { title: "Two" },
      { title: "One", state: "idle" },
    ]);
  });

  it("lays nothing over that the daemon refused", () => {
    const outbox = [
      refusedEntry("session.delete", { sessionId: sessionId(2) }),
      refusedEntry("session.create", { workingDir: "/gone" }),
    ];
    expect(listSessions(rows, outbox).map(({ title }) => title)).toEqual(["Two", "One"]);
    expect(underWay(outbox)).toEqual([]);
  });

  it("is not disturbed by params of another shape", () => {
    expect(listSessions(rows, [outboxEntry("session.rename", null)])).toHaveLength(2);
    expect(pendingPrompts([outboxEntry("session.prompt", { text: 5 })], sessionId(1))).toEqual([]);
  });
});

it("finds the prompts of one session in their order", () => {
  const outbox = [
    outboxEntry("session.prompt", { sessionId: sessionId(1), text: "a" }, "a"),
    outboxEntry("session.prompt", { sessionId: sessionId(2), text: "b" }, "b"),
    outboxEntry("session.prompt", { sessionId: sessionId(1), text: "c" }, "c"),
  ];
  expect(pendingPrompts(outbox, sessionId(1)).map(({ id, text }) => id + text)).toEqual([
    "aa",
    "cc",
  ]);
});

it("gives a refused prompt with its reason to its session, and what belongs to none to nobody else's", () => {
  const text = "Look around";
  const outbox = [
    outboxEntry("session.prompt", { sessionId: sessionId(1), text: "on its way" }),
    refusedEntry("session.prompt", { sessionId: sessionId(1), text }, "here"),
    refusedEntry("session.prompt", { sessionId: sessionId(9), text }, "nowhere"),
    refusedEntry("session.rename", { sessionId: sessionId(1), title: "x" }, "no prompt"),
  ];
  expect(pendingPrompts(outbox, sessionId(1))).toMatchObject([
    { state: "waiting", error: null },
    { id: "here", state: "refused", error: { code: "too_large" } },
  ]);
  const strays = strayRefusals(outbox, listSessions(rows, outbox));
  expect(strays).toMatchObject([
    { id: "nowhere", text },
    { id: "no prompt", text: null },
  ]);
});
