import { createRoot } from "solid-js";
import { expect, it } from "vitest";
import {
  grantChange,
  requestChange,
  requestId,
  requestRow,
  sessionChange,
  sessionId,
  sessionRow,
  shareChange,
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

it("keeps what is on screen over a reset until it has been given again, and then only that", () =>
  withStore(({ rows, apply, settle }) => {
    apply(
      [
        sessionChange(1, 1, sessionRow()),
        sessionChange(1, 2, sessionRow()),
        requestChange(2, 1, requestRow()),
        turnChange(3, 1, turnRow()),
        turnChange(3, 2, turnRow()),
      ],
      false,
    );
    apply([sessionChange(1, 1, sessionRow())], true);
    expect(rows.request[ONE]?.[requestId(1)]).toBeDefined();
    expect(rows.turn[sessionId(2)]).toBeUndefined();
    apply([requestChange(2, 1, requestRow())], false);
    settle(ONE);
    expect(Object.keys(rows.request[ONE] ?? {})).toEqual([requestId(1)]);
    expect(rows.turn[ONE]).toEqual({});
  }));

it("[F4] a reset brings back a row with a lower rev than the one on screen", () =>
  withStore(({ rows, apply, settle }) => {
    apply([sessionChange(9, 1, sessionRow()), requestChange(8, 1, requestRow())], false);
    const changes = [
      sessionChange(1, 1, sessionRow()),
      requestChange(2, 1, requestRow({ undone: true })),
    ];
    apply(changes, true);
    settle(ONE);
    expect(rows.request[ONE]?.[requestId(1)]?.undone).toBe(true);
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

it("[F9] a session that is shared again comes back with bodies older than its tombstone", () =>
  withStore(({ rows, apply }) => {
    apply([sessionChange(1, 1, sessionRow()), requestChange(2, 1, requestRow())], false);
    apply([sessionChange(5, 1, null)], false);
    apply([sessionChange(4, 1, sessionRow())], false);
    expect(rows.session[ONE]).toBeUndefined();
    apply([sessionChange(8, 1, sessionRow()), requestChange(2, 1, requestRow())], false);
    expect(Object.keys(rows.request[ONE] ?? {})).toEqual([requestId(1)]);
  }));

it("keeps a session's links and readers while it is closed, and drops them with it", () =>
  withStore(({ rows, apply, close }) => {
    apply(
      [
        sessionChange(1, 1, sessionRow()),
        sessionChange(2, 2, sessionRow()),
        shareChange(3, 1, "link", 100),
        grantChange(4, 1, 7, "link"),
        // The same device reads another session too.
        grantChange(3, 2, 7, "other"),
      ],
      false,
    );
    close(ONE);
    expect(rows.share[ONE]).toEqual({ link: { createdAt: 0, createdBy: null, expiresAt: 100 } });
    expect(Object.values(rows.grant).map((held) => Object.values(held)[0]?.shareId)).toEqual([
      "link",
      "other",
    ]);
    apply([grantChange(5, 1, 7, null)], false);
    expect(rows.grant[ONE]).toEqual({});
    apply([sessionChange(6, 1, null)], false);
    expect(rows.share[ONE]).toBeUndefined();
    expect(Object.keys(rows.grant)).toEqual([sessionId(2)]);
  }));
