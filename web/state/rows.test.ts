import { createRoot } from "solid-js";
import { expect, it } from "vitest";
import {
  requestChange,
  requestId,
  requestRow,
  sessionChange,
  sessionId,
  sessionRow,
  turnChange,
  turnRow,
} from "../testing/rows.ts";
import { createRowStore } from "./rows.ts";

const ONE = sessionId(1);
const withStore = (work: (store: ReturnType<typeof createRowStore>) => void) =>
  createRoot((dispose) => {
    work(createRowStore());
    dispose();
  });

it("[F2] applying a page twice, or an older one late, changes nothing", () =>
  withStore(({ rows, apply }) => {
    const page = [
      sessionChange(1, 1, sessionRow({ title: "First" })),
      sessionChange(3, 1, sessionRow({ title: "Second" })),
    ];
    apply(page, false);
    apply(page, false);
    apply([sessionChange(2, 1, sessionRow({ title: "Between" }))], false);
    expect(rows.session[ONE]?.title).toBe("Second");
  }));

it("a session's tombstone takes all of its rows, and a straggler does not bring one back", () =>
  withStore(({ rows, apply }) => {
    apply(
      [
        sessionChange(1, 1, sessionRow()),
        requestChange(2, 1, requestRow()),
        turnChange(3, 1, turnRow()),
        sessionChange(5, 1, null),
        requestChange(4, 1, requestRow()),
      ],
      false,
    );
    expect(rows.session).toEqual({});
    expect(rows.request[ONE]).toBeUndefined();
    expect(rows.turn[ONE]).toBeUndefined();
  }));

it("[F4] a reset forgets rows and what was known of their revs", () =>
  withStore(({ rows, apply }) => {
    apply([sessionChange(9, 1, sessionRow()), sessionChange(8, 2, sessionRow())], false);
    apply([sessionChange(1, 2, sessionRow({ title: "From the new history" }))], true);
    expect(Object.keys(rows.session)).toEqual([sessionId(2)]);
    expect(rows.session[sessionId(2)]?.title).toBe("From the new history");
  }));

it("closing a session drops its parts, and opening it again brings them back", () =>
  withStore(({ rows, apply, close }) => {
    const changes = [sessionChange(1, 1, sessionRow()), requestChange(2, 1, requestRow())];
    apply(changes, false);
    close(ONE);
    expect(rows.session[ONE]).toBeDefined();
    expect(rows.request[ONE]).toBeUndefined();
    apply(changes, false);
    expect(rows.request[ONE]?.[requestId(1)]).toBeDefined();
  }));
