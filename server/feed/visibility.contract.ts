// Who is sent what (F9): sessions left out and filled, viewers and their grants.

import { describe, expect, test } from "vitest";
import type { SessionId } from "../../shared/ids.ts";
import {
  LEFT_OUT_MAX,
  PAGE_MAX_BYTES,
  PAGE_MAX_ROWS,
  PAGE_QUEUE_LOW_BYTES,
} from "../../shared/limits.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { TurnRow } from "../../shared/protocol/rows.ts";
import type { Store, Visibility } from "../store/store.ts";
import { type FeedClientOptions, makeFeedClient } from "../testing/feed-client.ts";
import { makeFeedDaemon, type StoreHarness } from "../testing/feed-daemon.ts";
import type { LinkedConnection } from "../testing/linked-connection.ts";
import {
  plainText,
  sampleDevice,
  sampleDeviceId,
  sampleGrant,
  sampleSession,
  sampleSessionId,
  sampleShare,
  sampleTurn,
} from "../testing/sample-rows.ts";

type MakeHarness = () => Promise<StoreHarness>;

const DAY_MS = 24 * 60 * 60_000;
const session = sampleSessionId("session-a");
const other = sampleSessionId("session-b");
const viewer = sampleDeviceId("viewer");

/** Fills the queue of who does not read it. */
const bulkyDevice = sampleDevice({ name: "x".repeat(PAGE_QUEUE_LOW_BYTES) });

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

async function setUp(makeHarness: MakeHarness) {
  const daemon = await makeFeedDaemon(await makeHarness());
  const { store, hub, clock } = daemon;
  for (const id of [session, other]) {
    await store.write(async (tx) => {
      await tx.put("session", id, id, sampleSession({ modifiedAt: clock.now() }));
      await tx.put("turn", id, "1", sampleTurn({ state: "done" }));
    });
  }
  await store.write((tx) => tx.put("device", null, viewer, sampleDevice({ role: "viewer" })));
  let devices = 0;
  return {
    daemon,
    store,
    hub,
    clock,
    join(options: FeedClientOptions = {}) {
      devices += 1;
      const id = options.role === "viewer" ? viewer : sampleDeviceId(`device-${devices}`);
      return makeFeedClient((connection) => daemon.hub.accept(connection), id, options);
    },
    putTurn: (of: SessionId, id: number, row: Partial<TurnRow> = {}) =>
      store.write((tx) => tx.put("turn", of, `${id}`, sampleTurn({ state: "done", ...row }))),
    putTurns: (of: SessionId, from: number, to: number, text = "") =>
      store.write(async (tx) => {
        for (let id = from; id <= to; id += 1) {
          const answer = plainText(text);
          await tx.put("turn", of, `${id}`, sampleTurn({ state: "done", answer }));
        }
      }),
    async beginTurn(of: SessionId, id: number) {
      const { head } = await store.write((tx) => tx.put("turn", of, `${id}`, sampleTurn()));
      return hub.live.openStream(of, id, head);
    },
    grant: (of: SessionId) => store.write((tx) => tx.put("grant", of, viewer, sampleGrant())),
    revoke: (of: SessionId) => store.write((tx) => tx.remove("grant", of, viewer)),
  };
}

const ofType = <T extends DaemonMessage["type"]>(messages: DaemonMessage[], type: T) =>
  messages.filter(
    (message): message is Extract<DaemonMessage, { type: T }> => message.type === type,
  );

const bodiesOf = (client: ReturnType<typeof makeFeedClient>, of: SessionId): string[] =>
  client
    .rows()
    .flatMap(({ kind, sessionId, id }) => (kind === "turn" && sessionId === of ? id : []));

export function visibilityContract(name: string, makeHarness: MakeHarness): void {
  describe(`${name}: scope`, () => scopes(makeHarness));
  describe(`${name}: fills`, () => fills(makeHarness));
  describe(`${name}: floods`, () => floods(makeHarness));
  describe(`${name}: live events of what is left out`, () => liveEvents(makeHarness));
  describe(`${name}: viewers`, () => viewers(makeHarness));
}

function scopes(makeHarness: MakeHarness): void {
  test("[F9] [V1] leaves out what the device names, if there is such a session", async () => {
    const { join, putTurn } = await setUp(makeHarness);
    const client = join();
    const unknown = sampleSessionId("unknown");
    client.restore({ ...client.backup(), leftOut: new Set([session, unknown]) });
    const link = client.connect();
    await settled();
    expect(ofType(link.received, "welcome")[0]?.leftOut).toEqual([session]);
    await putTurn(session, 2);
    await putTurn(other, 2);
    await settled();
    expect([bodiesOf(client, session), bodiesOf(client, other)]).toEqual([[], ["1", "2"]]);
    const kinds = client.rows().map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "session")).toHaveLength(2);
  });

  test("[F9] [V1] leaves out what is old by the daemon's clock and not pinned, and takes it in again", async () => {
    const { join, store, clock, putTurn } = await setUp(makeHarness);
    const now = clock.now();
    const put = (id: SessionId, pinned: boolean, modifiedAt: number) =>
      store.write((tx) => tx.put("session", id, id, sampleSession({ pinned, modifiedAt })));
    await put(session, false, now - 3 * DAY_MS - 1);
    await put(other, true, now - 90 * DAY_MS);
    const client = join({ days: 3 });
    client.connect();
    await settled();
    expect([...client.leftOut]).toEqual([session]);
    expect([bodiesOf(client, session), bodiesOf(client, other)]).toEqual([[], ["1"]]);
    await put(session, false, now);
    await putTurn(session, 2);
    client.link.cut();
    client.connect();
    await settled();
    expect([...client.leftOut], "it says what it lacks until it is filled").toEqual([session]);
    client.keep(session);
    await settled();
    expect([[...client.leftOut], bodiesOf(client, session)]).toEqual([[], ["1", "2"]]);
  });

  test("[F10] says nothing of what is left out, and still that it is caught up", async () => {
    const { join, store, putTurns } = await setUp(makeHarness);
    const client = join();
    client.connect();
    await settled();
    client.leave(session);
    await putTurns(session, 2, 9);
    await settled();
    expect(client.cursor).toBeLessThan(store.head);
    const link = client.connect();
    await settled();
    expect(link.received).toMatchObject([
      { type: "welcome", leftOut: [session] },
      { type: "page", changes: [], upto: store.head, more: 0 },
    ]);
    const { length } = link.received;
    await putTurns(session, 1, 9, "again");
    await settled();
    expect(link.received).toHaveLength(length);
  });

  test("[F10] brings the cursor on now and then, however little there is to see", async () => {
    const { join, store } = await setUp(makeHarness);
    const client = join();
    client.connect();
    await settled();
    client.leave(session);
    await settled();
    client.link.received.length = 0;
    for (let i = 0; i < 9; i += 1) {
      await store.write(async (tx) => {
        for (let n = 0; n < 500; n += 1) {
          await tx.put("turn", session, "1", sampleTurn({ createdAt: i * 500 + n }));
        }
      });
    }
    await settled();
    expect(client.cursor).toBeGreaterThan(4_000);
    expect(
      ofType(client.link.received, "page").filter(({ changes }) => changes.length === 0),
    ).toHaveLength(1);
  }, 20_000);

  test("[F3] sends an owner who leaves something out all the rest of a commit", async () => {
    const { join, store } = await setUp(makeHarness);
    const all = join();
    const some = join();
    for (const client of [all, some]) client.connect();
    await settled();
    some.leave(session);
    await store.write(async (tx) => {
      await tx.put("turn", session, "2", sampleTurn());
      await tx.put("turn", other, "2", sampleTurn());
    });
    await settled();
    expect([bodiesOf(all, session), bodiesOf(all, other)]).toEqual([
      ["1", "2"],
      ["1", "2"],
    ]);
    expect([bodiesOf(some, session), bodiesOf(some, other)]).toEqual([[], ["1", "2"]]);
  });
}

function fills(makeHarness: MakeHarness): void {
  test("[V2] [V3] sends a session's bodies in parts between the pages, at the cursor the client has", async () => {
    const { join, store, putTurns } = await setUp(makeHarness);
    await putTurns(session, 1, PAGE_MAX_ROWS * 2 + 10);
    const client = join();
    client.restore({ ...client.backup(), leftOut: new Set([session]) });
    client.keep(session);
    await putTurns(other, 1, PAGE_MAX_ROWS * 3);
    const link = client.connect();
    await settled();
    const order = link.received.map(({ type }) => type);
    const inTurn = ["page", "fill", "page", "fill", "page", "fill", "page"];
    expect(order).toEqual(["welcome", ...inTurn]);
    const parts = ofType(link.received, "fill");
    expect(parts.map(({ isFirst, isLast }) => [isFirst, isLast])).toEqual([
      [true, false],
      [false, false],
      [false, true],
    ]);
    expect(bodiesOf(client, session)).toHaveLength(PAGE_MAX_ROWS * 2 + 10);
    expect(client.cursor).toBe(store.head);
  });

  test("[V2] has at least one part, and in pages whatever changes after the first", async () => {
    const { join, store, putTurns } = await setUp(makeHarness);
    const empty = sampleSessionId("empty");
    await store.write((tx) => tx.put("session", empty, empty, sampleSession()));
    await putTurns(session, 1, PAGE_MAX_ROWS * 3, "x".repeat(2_000));
    const client = join();
    client.restore({ ...client.backup(), leftOut: new Set([session, empty]) });
    const link = client.connect();
    await settled();
    client.keep(empty);
    await settled();
    expect(ofType(link.received, "fill")).toMatchObject([
      { sessionId: empty, changes: [], isFirst: true, isLast: true },
    ]);
    link.stall();
    client.keep(session);
    await settled();
    const last = PAGE_MAX_ROWS * 3;
    await store.write(async (tx) => {
      await tx.put("turn", session, "1", sampleTurn({ model: "moved" }));
      await tx.put("turn", session, String(last), sampleTurn({ model: "moved" }));
      await tx.remove("turn", session, "2");
      await tx.remove("turn", session, String(last - 1));
      await tx.put("turn", session, String(last + 1), sampleTurn());
    });
    await settled();
    link.resume();
    await settled();
    const turns = await store.rows("turn", session);
    expect(new Set(bodiesOf(client, session))).toEqual(new Set(turns.map(({ id }) => id)));
    expect(client.leftOut.size).toBe(0);
  }, 20_000);

  test("[V5] ends when the session is left again, and begins anew when it is wanted again", async () => {
    const { join, putTurns } = await setUp(makeHarness);
    await putTurns(session, 1, PAGE_MAX_ROWS * 3, "x".repeat(2_000));
    const client = join();
    client.restore({ ...client.backup(), leftOut: new Set([session]) });
    const link = client.connect();
    await settled();
    link.stall();
    client.keep(session);
    await settled();
    client.leave(session);
    link.resume();
    await settled();
    expect(ofType(link.received, "fill").filter(({ isLast }) => isLast)).toEqual([]);
    expect(bodiesOf(client, session)).toEqual([]);
    client.keep(session);
    await settled();
    expect(bodiesOf(client, session)).toHaveLength(PAGE_MAX_ROWS * 3);
  }, 20_000);

  test("[F3] [V5] loses nothing of a session that is left and wanted again while its parts are on their way", async () => {
    const { join, putTurn, store } = await setUp(makeHarness);
    const client = join();
    client.restore({ ...client.backup(), leftOut: new Set([session]) });
    const link = client.connect();
    await settled();
    link.stall();
    client.keep(session);
    await settled();
    client.leave(session);
    await putTurn(session, 2);
    await settled();
    client.keep(session);
    await settled();
    link.resume();
    await settled();
    expect(bodiesOf(client, session)).toEqual(["1", "2"]);
    expect([client.cursor, [...client.leftOut]]).toEqual([store.head, []]);
  });

  test("[F4] [V5] leaves out what was left by a client that did not know yet that it starts over", async () => {
    const { join, putTurn } = await setUp(makeHarness);
    const client = join();
    client.connect();
    await settled();
    client.link.cut();
    client.restore({ ...client.backup(), epoch: "another" });
    const link = client.connect();
    client.leave(session);
    link.stall();
    await settled();
    client.leave(other);
    link.resume();
    await putTurn(session, 2);
    await settled();
    expect([client.resyncs, [...client.leftOut].sort()]).toEqual([1, [session, other]]);
    client.keep(session);
    await settled();
    expect([bodiesOf(client, session), bodiesOf(client, other)]).toEqual([["1", "2"], []]);
  });

  test("[F7] sends the next part only once those before have left the queue", async () => {
    const { join, putTurns } = await setUp(makeHarness);
    await putTurns(session, 1, 800, "x".repeat(10_000));
    const client = join();
    client.restore({ ...client.backup(), leftOut: new Set([session]) });
    const link = client.connect();
    await settled();
    link.stall();
    client.keep(session);
    await settled();
    expect(link.queuedBytes).toBeGreaterThan(PAGE_QUEUE_LOW_BYTES);
    expect(link.queuedBytes).toBeLessThan(PAGE_QUEUE_LOW_BYTES + 1_200_000);
    link.resume();
    await settled();
    expect(bodiesOf(client, session)).toHaveLength(800);
  }, 20_000);

  test("[M4] takes no more wishes than it can hold", async () => {
    const { join } = await setUp(makeHarness);
    const link = join().connect();
    for (let i = 0; i < 1_100; i += 1) {
      link.say({ type: "keep", sessionId: sampleSessionId(`wish-${i}`) });
    }
    await settled();
    const [failure] = ofType(link.received, "failure");
    expect(failure).toMatchObject({ id: null, error: { code: "too_large" } });
    expect(ofType(link.received, "failure")).toHaveLength(1_100 - 1_024);
  });
}

function floods(makeHarness: MakeHarness): void {
  const sessionIds = Array.from({ length: LEFT_OUT_MAX + 1 }, (_, i) => sampleSessionId(`s-${i}-`));
  const pages = (link: LinkedConnection) => ofType(link.received, "page");

  test("[M4] [V1] takes no scope with more sessions than LEFT_OUT_MAX, and goes on", async () => {
    const { join } = await setUp(makeHarness);
    const link = join().connect();
    await settled();
    const hello = { epoch: null, cursor: 0, token: null, packings: [] };
    link.say({ type: "hello", ...hello, scope: { days: null, except: sessionIds } });
    link.say({ type: "keep", sessionId: session });
    await settled();
    expect(ofType(link.received, "failure")).toMatchObject([
      { id: null, error: { code: "bad_message" } },
    ]);
    expect(ofType(link.received, "fill")).toHaveLength(1);
  }, 20_000);

  test("[M4] [V5] leaves out no more than LEFT_OUT_MAX, whatever the client makes up", async () => {
    const { join, store } = await setUp(makeHarness);
    const link = join().connect();
    await settled();
    for (const sessionId of sessionIds) link.say({ type: "leave", sessionId });
    await settled();
    expect(ofType(link.received, "failure")).toMatchObject([
      { id: null, error: { code: "too_large" } },
    ]);
    expect(pages(link).at(-1)).toMatchObject({ upto: store.head, changes: [] });
    expect(pages(link).flatMap(({ leftOut }) => leftOut)).toHaveLength(LEFT_OUT_MAX);
  }, 20_000);

  test("[V5] answers a viewer that leaves what was taken from it meanwhile", async () => {
    const { join, grant, revoke } = await setUp(makeHarness);
    await grant(session);
    const link = join({ role: "viewer" }).connect();
    await settled();
    await revoke(session);
    await settled();
    link.say({ type: "leave", sessionId: session });
    await settled();
    expect(pages(link).at(-1)).toMatchObject({ changes: [], leftOut: [session] });
  });

  test("[F7] a viewer costs no page of its own for what others do", async () => {
    const { reads, makeWatched } = watchReads(makeHarness);
    const { join, grant, revoke, putTurn } = await setUp(makeWatched);
    await grant(session);
    const client = join({ role: "viewer" });
    client.keep(session);
    client.connect();
    await settled();
    reads.length = 0;
    for (const id of [session, other]) await putTurn(id, 2);
    await settled();
    expect(reads).toEqual(["page for all", "page for all"]);
    expect([bodiesOf(client, session), bodiesOf(client, other)]).toEqual([["1", "2"], []]);
    await revoke(session);
    await settled();
    expect(client.rows().map(({ kind }) => kind)).toEqual(["device"]);
  });
}

/** Stores that note what is read of them for pages and for what a viewer may see. */
function watchReads(makeHarness: MakeHarness): { reads: string[]; makeWatched: MakeHarness } {
  const reads: string[] = [];
  const watched = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        if (name === "rowsById") reads.push("grants");
        const value: unknown = Reflect.get(target, name, target);
        if (name !== "page") return typeof value === "function" ? value.bind(target) : value;
        return (after: number, visibility: Visibility) => {
          reads.push(visibility.viewer === null ? "page for all" : "page for one");
          return target.page(after, visibility);
        };
      },
    });
  return {
    reads,
    async makeWatched() {
      const harness = await makeHarness();
      return { ...harness, open: async () => watched(await harness.open()) };
    },
  };
}

function liveEvents(makeHarness: MakeHarness): void {
  test("[F6] holds a running turn's text back until the session is filled, then shows all of it", async () => {
    const { join, beginTurn, clock, hub, store } = await setUp(makeHarness);
    const client = join();
    client.connect();
    await settled();
    client.leave(session);
    client.watch(session);
    const stream = await beginTurn(session, 2);
    stream.append("answer", "Once ");
    hub.live.publish(session, { type: "session.doing", doing: "Thinking" }, store.head);
    await clock.advance(100);
    expect(client.chunks).toEqual([]);
    expect(ofType(client.link.received, "live").map(({ event }) => event.type)).toContain(
      "session.doing",
    );
    client.keep(session);
    stream.append("answer", "upon ");
    await clock.advance(100);
    expect(client.painted(session, 2, "answer")).toBe("Once upon ");
    client.leave(session);
    stream.append("answer", "a ");
    await clock.advance(100);
    client.keep(session);
    stream.append("answer", "time");
    await clock.advance(100);
    expect(client.painted(session, 2, "answer")).toBe("Once upon a time");
  });

  test("[F6] holds text back whose turn has moved out of a fill, until the page with it", async () => {
    const { join, beginTurn, putTurns, store, clock } = await setUp(makeHarness);
    // Two parts to stall a connection, and one more, in which the turn would be.
    await putTurns(session, 1, 2, "x".repeat(PAGE_MAX_BYTES));
    const stream = await beginTurn(session, 999);
    const client = join();
    client.restore({ ...client.backup(), leftOut: new Set([session]) });
    const link = client.connect();
    await settled();
    client.watch(session);
    link.stall();
    client.keep(session);
    await settled();
    const reasoning = plainText("moved");
    await store.write((tx) => tx.put("turn", session, "999", sampleTurn({ reasoning })));
    stream.append("answer", "text");
    await settled();
    link.resume();
    await clock.advance(100);
    const order = link.received.map(({ type }) => type).filter((type) => type !== "live");
    expect(order.slice(-4)).toEqual(["fill", "fill", "fill", "page"]);
    expect(client.painted(session, 999, "answer")).toBe("text");
  });
}

function viewers(makeHarness: MakeHarness): void {
  test("[F9] [V7] hold their own device until something is granted, and may watch and keep nothing else", async () => {
    const { join, hub, store, beginTurn, clock } = await setUp(makeHarness);
    const client = join({ role: "viewer" });
    const link = client.connect();
    await settled();
    client.watch(session);
    client.keep(session);
    link.say({ type: "keep", sessionId: session });
    hub.live.publish(session, { type: "session.doing", doing: "Thinking" }, store.head);
    (await beginTurn(session, 2)).append("answer", "secret");
    await clock.advance(100);
    expect(client.rows().map(({ kind, id }) => [kind, id])).toEqual([["device", viewer]]);
    expect(ofType(link.received, "live")).toEqual([]);
    expect(ofType(link.received, "failure")).toMatchObject([
      { id: null, error: { code: "not_allowed" } },
      { id: null, error: { code: "not_allowed" } },
    ]);
    expect(ofType(link.received, "welcome")[0]).toMatchObject({ role: "viewer", leftOut: [] });
  });

  test("[F9] [V6] get what is granted while they are connected: its row, then its bodies, text and doings", async () => {
    const { join, grant, beginTurn, hub, store, clock, putTurn } = await setUp(makeHarness);
    const stream = await beginTurn(session, 2);
    stream.append("answer", "Hello ");
    hub.live.publish(session, { type: "session.doing", doing: "Thinking" }, store.head);
    hub.live.publish(other, { type: "session.doing", doing: "Hidden" }, store.head);
    const client = join({ role: "viewer" });
    const link = client.connect();
    await settled();
    await grant(session);
    await settled();
    const granted = ofType(link.received, "page").at(-1);
    expect(granted).toMatchObject({ changes: [{ kind: "session" }], leftOut: [session] });
    client.keep(session);
    client.watch(session);
    stream.append("answer", "there");
    await putTurn(other, 2);
    await putTurn(session, 3);
    await clock.advance(100);
    expect(bodiesOf(client, session)).toEqual(["1", "2", "3"]);
    expect(client.painted(session, 2, "answer")).toBe("Hello there");
    expect(JSON.stringify(link.received)).not.toContain(other);
    expect(JSON.stringify(link.received)).toContain("Thinking");
    expect(client.rows().filter(({ kind }) => kind === "grant" || kind === "share")).toEqual([]);
  });

  test("[F9] [V5] are sent no bodies on a wish from before the grant: they are left out with its page", async () => {
    const { join, grant } = await setUp(makeHarness);
    await grant(session);
    const link = join({ role: "viewer" }).connect();
    link.say({ type: "keep", sessionId: session });
    await settled();
    expect(link.received.map(({ type }) => type)).toEqual(["welcome", "page"]);
    link.say({ type: "keep", sessionId: session });
    await settled();
    expect(ofType(link.received, "fill")).toMatchObject([{ isFirst: true, isLast: true }]);
  });

  test("[V6] get no share and nobody else's grant or device, be it of a session they see", async () => {
    const { join, grant, store, putTurn } = await setUp(makeHarness);
    await grant(session);
    const client = join({ role: "viewer" });
    client.keep(session);
    const link = client.connect();
    await settled();
    const stranger = sampleDeviceId("stranger");
    await store.write(async (tx) => {
      await tx.put("share", session, "a share", sampleShare());
      await tx.put("device", null, stranger, sampleDevice({ role: "viewer" }));
      await tx.put("grant", session, stranger, sampleGrant());
    });
    await putTurn(session, 2);
    await store.write((tx) => tx.remove("grant", session, stranger));
    await store.write((tx) => tx.remove("share", session, "a share"));
    await settled();
    expect(bodiesOf(client, session)).toEqual(["1", "2"]);
    expect(JSON.stringify(link.received)).not.toMatch(/stranger|a share|"grant"|"share"/);
  });

  test("[F9] [V7] lose a session at once when its grant is taken, however far behind they are", async () => {
    const { join, grant, revoke, beginTurn, clock, store, hub } = await setUp(makeHarness);
    await grant(session);
    const client = join({ role: "viewer" });
    client.keep(session);
    const link = client.connect();
    await settled();
    client.watch(session);
    const stream = await beginTurn(session, 2);
    stream.append("answer", "before ");
    await clock.advance(100);
    expect(client.painted(session, 2, "answer")).toBe("before ");
    link.stall();
    await store.write((tx) => tx.put("device", null, viewer, bulkyDevice));
    await settled();
    await revoke(session);
    await settled();
    link.resume();
    stream.append("answer", "after");
    hub.live.publish(session, { type: "session.doing", doing: "Thinking" }, store.head);
    await clock.advance(100);
    expect(JSON.stringify(ofType(link.received, "live"))).not.toMatch(/after|Thinking/);
    expect(client.rows().map(({ kind }) => kind)).toEqual(["device"]);
    client.watch(session);
    await settled();
    expect(link.received.at(-1)).toMatchObject({ error: { code: "not_allowed" } });
  });

  test("[F9] get a tombstone for what was taken or deleted while they were away", async () => {
    const { join, grant, revoke, store } = await setUp(makeHarness);
    await grant(session);
    await grant(other);
    const client = join({ role: "viewer" });
    for (const id of [session, other]) client.keep(id);
    client.connect();
    await settled();
    expect(client.rows().filter(({ kind }) => kind === "turn")).toHaveLength(2);
    client.link.cut();
    await revoke(session);
    await store.write((tx) => tx.remove("session", other, other));
    client.connect();
    await settled();
    expect(client.rows().map(({ kind }) => kind)).toEqual(["device"]);
    expect(client.resyncs).toBe(0);
  });

  test("[F9] get a session back that is granted again, with the text that runs", async () => {
    const { join, grant, revoke, beginTurn, clock } = await setUp(makeHarness);
    await grant(session);
    const client = join({ role: "viewer" });
    client.keep(session);
    client.connect();
    await settled();
    client.watch(session);
    const stream = await beginTurn(session, 2);
    stream.append("answer", "one ");
    await clock.advance(100);
    await revoke(session);
    stream.append("answer", "two ");
    await clock.advance(100);
    expect(client.rows().map(({ kind }) => kind)).toEqual(["device"]);
    await grant(session);
    stream.append("answer", "three");
    await clock.advance(100);
    expect(bodiesOf(client, session)).toEqual(["1", "2"]);
    expect(client.painted(session, 2, "answer")).toBe("one two three");
  });

  test("[F9] hear that a session does nothing any more when a renewed grant comes in between", async () => {
    const { join, grant, revoke, hub, store } = await setUp(makeHarness);
    const doing = (what: string | null) =>
      hub.live.publish(session, { type: "session.doing", doing: what }, store.head);
    await grant(session);
    const client = join({ role: "viewer" });
    const link = client.connect();
    await settled();
    doing("Thinking");
    link.stall();
    await store.write((tx) => tx.put("device", null, viewer, bulkyDevice));
    await settled();
    await revoke(session);
    await settled();
    doing(null);
    await grant(session);
    await settled();
    link.resume();
    await settled();
    const doings = ofType(link.received, "live").map(({ event }) => event);
    expect(doings.at(-1)).toEqual({ type: "session.doing", doing: null });
  });

  test("[F4] start over once they have become owners", async () => {
    const { join, grant, daemon } = await setUp(makeHarness);
    await grant(session);
    const client = join({ role: "viewer" });
    client.connect();
    await settled();
    client.link.cut();
    const promoted = makeFeedClient((connection) => daemon.hub.accept(connection), viewer);
    promoted.restore(client.backup());
    promoted.connect();
    await settled();
    expect(promoted.resyncs).toBe(1);
    expect(promoted.rows().filter(({ kind }) => kind === "session")).toHaveLength(2);
  });
}
