import { expect, it } from "vitest";
import { outboxEntry, refusedEntry, sessionId } from "../testing/rows.ts";
import { endingShares, listErrands } from "./errands.ts";

it("says what each command on its way is about, in the order they are sent", () => {
  const outbox = [
    outboxEntry("session.rename", { sessionId: sessionId(1), title: "Renamed" }, "a"),
    refusedEntry("session.undo", { sessionId: sessionId(1) }, "b"),
    { ...outboxEntry("session.delete", { sessionId: sessionId(9) }, "c"), state: "sent" as const },
  ];
  expect(listErrands(outbox, (id) => (id === sessionId(1) ? "One" : undefined))).toEqual([
    { id: "a", method: "session.rename", text: "Renamed", session: "One", state: "waiting" },
    { id: "c", method: "session.delete", text: null, session: null, state: "sent" },
  ]);
});

it("names the share links that are to be taken back, until the daemon has refused to", () => {
  const revoke = (shareId: string) => ({ sessionId: sessionId(1), shareId });
  const outbox = [
    outboxEntry("share.revoke", revoke("one"), "a"),
    refusedEntry("share.revoke", revoke("two"), "b"),
    outboxEntry("share.create", { ...revoke("three"), days: 7 }, "c"),
  ];
  expect([...endingShares(outbox)]).toEqual(["one"]);
});
