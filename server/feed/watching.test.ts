// What is streamed: whoever joins, whenever, sees the same text, behind the row it belongs to.

import { expect, test } from "vitest";
import { CHUNK_COALESCE_MS, PAGE_QUEUE_LOW_BYTES } from "../../shared/limits.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import { makeFeedClient } from "../testing/feed-client.ts";
import { linkConnection } from "../testing/linked-connection.ts";
import {
  plainText,
  sampleCall,
  sampleCallId,
  sampleDevice,
  sampleDeviceId,
  sampleSessionId,
  sampleToolResult,
  sampleTurn,
} from "../testing/sample-rows.ts";
import { silentLog } from "../testing/silent-log.ts";
import { openTemporaryStore } from "../testing/temporary-store.ts";
import { createHub } from "./hub.ts";

const session = sampleSessionId("session-a");
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

async function setUp() {
  const { store, clock } = await openTemporaryStore();
  const daemon = { name: "test", version: "1" };
  const dispatch = async () => ({});
  const hub = createHub({ store, clock, dispatch, daemon, log: silentLog });
  let devices = 0;
  return {
    store,
    clock,
    hub,
    join() {
      devices += 1;
      const client = makeFeedClient(hub.accept, sampleDeviceId(`device-${devices}`));
      client.connect();
      return client;
    },
    async beginTurn(id: number) {
      const { head } = await store.write((tx) => tx.put("turn", session, `${id}`, sampleTurn()));
      return hub.live.openStream(session, id, head);
    },
    putTurn: (id: number, row: Parameters<typeof sampleTurn>[0]) =>
      store.write((tx) => tx.put("turn", session, `${id}`, sampleTurn(row))),
  };
}

/** Who looks on is presence.test.ts's affair. */
const described = (messages: readonly DaemonMessage[]): string[] =>
  messages.flatMap((message) => {
    if (message.type !== "live") return message.type;
    const { event } = message;
    if (event.type === "turn.chunk") return `${event.part}@${event.offset}:${event.text}`;
    if (event.type === "session.lookers") return [];
    return event.type === "tool.started" ? `started ${event.callId}` : `doing ${event.doing}`;
  });

test("[S2] shows one text to who was there, who came late, who slept and who came back in mid-word", async () => {
  const { join, beginTurn, clock } = await setUp();
  const there = join();
  const sleeper = join();
  const flaky = join();
  await settled();
  const stream = await beginTurn(1);
  for (const client of [there, sleeper, flaky]) client.watch(session);
  let late = null;
  let whole = "";
  for (let i = 0; i < 200; i += 1) {
    const piece = i % 9 === 0 ? "wo\ud83d" : i % 9 === 1 ? "\ude00rd " : `piece ${i} `;
    whole += piece;
    stream.append("answer", piece);
    if (i === 20) sleeper.link.stall();
    if (i === 50) flaky.link.cut();
    if (i === 91) {
      flaky.connect();
      flaky.watch(session);
    }
    if (i === 100) {
      late = join();
      late.watch(session);
    }
    if (i === 150) sleeper.link.resume();
    await clock.advance(7);
  }
  await clock.advance(CHUNK_COALESCE_MS);
  expect(stream.text("answer")).toBe(whole);
  expect(stream.parts()).toEqual({ answer: whole });
  for (const client of [there, sleeper, flaky, late]) {
    expect(client?.painted(session, 1, "answer")).toBe(whole);
  }
  const offsets = there.chunks.map(({ event }) => event.type === "turn.chunk" && event.offset);
  expect(new Set(offsets).size).toBe(offsets.length);
  expect(late?.chunks[0]).toMatchObject({ event: { offset: 0 } });
  const resumed = flaky.chunks.find(({ event }) => "offset" in event && event.text.includes("91"));
  expect(resumed).toMatchObject({ event: { offset: expect.any(Number) } });
  expect(flaky.chunks.filter(({ event }) => "offset" in event && event.offset === 0)).toHaveLength(
    1,
  );
});

test.each([
  [{ turnId: 4, offsets: { answer: 3 } }, [3]],
  [{ turnId: 4, offsets: { answer: 4 } }, []],
  [{ turnId: 4, offsets: { answer: 2 } }, [0]],
  [{ turnId: 4, offsets: { answer: 5 } }, [0]],
  [{ turnId: 4, offsets: { reasoning: 3 } }, [0]],
  [{ turnId: 3, offsets: { answer: 3 } }, [0]],
  [null, [0]],
])("answers a watch at %j with what is held beyond", async (at, offsets) => {
  const { hub, beginTurn } = await setUp();
  const stream = await beginTurn(4);
  stream.append("answer", "a😀b");
  const peer = { kind: "device", deviceId: sampleDeviceId("device"), role: "owner" } as const;
  const link = linkConnection(hub.accept, peer);
  const scope = { days: null, except: [] };
  link.say({ type: "hello", epoch: null, cursor: 0, token: null, scope, packings: [] });
  await settled();
  link.say({ type: "watch", sessionId: session, at });
  await settled();
  const events = link.received.flatMap((message) => (message.type === "live" ? message.event : []));
  expect(events.flatMap((event) => ("offset" in event ? event.offset : []))).toEqual(offsets);
});

test("[F4] takes no position from a device that has to start over", async () => {
  const { hub, beginTurn } = await setUp();
  const stream = await beginTurn(4);
  stream.append("answer", "a😀b");
  const peer = { kind: "device", deviceId: sampleDeviceId("device"), role: "owner" } as const;
  const link = linkConnection(hub.accept, peer);
  const scope = { days: null, except: [] };
  link.say({ type: "hello", epoch: "another", cursor: 9, token: "9.x", scope, packings: [] });
  const at = { turnId: 4, offsets: { answer: 3 } };
  link.say({ type: "watch", sessionId: session, at });
  await settled();
  expect(described(link.received)).toEqual(["welcome", "page", "answer@0:a😀b"]);
});

test("[S3] sends one chunk per part in CHUNK_COALESCE_MS at most, the first at once", async () => {
  const { join, beginTurn, clock } = await setUp();
  const client = join();
  await settled();
  client.watch(session);
  const stream = await beginTurn(1);
  await settled();
  stream.append("answer", "a");
  expect(client.painted(session, 1, "answer")).toBe("a");
  for (let i = 0; i < 300; i += 1) {
    stream.append("answer", "b");
    stream.append("reasoning", "c");
    await clock.advance(1);
  }
  await clock.advance(CHUNK_COALESCE_MS);
  expect(client.painted(session, 1, "answer")).toBe(`a${"b".repeat(300)}`);
  expect(client.painted(session, 1, "reasoning")).toBe("c".repeat(300));
  expect(client.chunks.length).toBeLessThanOrEqual(2 * (300 / CHUNK_COALESCE_MS + 2));
  expect(clock.pending).toBeLessThanOrEqual(1);
});

test("[F6] holds live events back until the page with their row was sent, in their order", async () => {
  const { join, beginTurn, putTurn, hub, clock, store } = await setUp();
  const client = join();
  await settled();
  client.watch(session);
  client.link.stall();
  for (const name of ["x", "y", "z"]) {
    const padded = sampleDevice({ name: name.repeat(PAGE_QUEUE_LOW_BYTES / 2) });
    await store.write((tx) => tx.put("device", null, sampleDeviceId(name), padded));
  }
  await settled();
  const stream = await beginTurn(1);
  hub.live.publish(session, { type: "session.doing", doing: "Thinking" }, store.head);
  stream.append("answer", "Let me look. ");
  await clock.advance(100);
  const calls = [sampleCall("a")];
  const { head } = await putTurn(1, {
    state: "calling",
    answer: plainText("Let me look. "),
    calls,
  });
  const started = { type: "tool.started", turnId: 1, callId: sampleCallId("a") } as const;
  hub.live.publish(session, started, head);
  stream.append("output:a", "output");
  await clock.advance(100);
  client.link.resume();
  await clock.advance(100);
  expect(described(client.link.received).slice(1)).toEqual([
    "page",
    "page",
    "page",
    "page",
    "doing Thinking",
    "started a",
    "output:a@0:output",
  ]);
});

test("[F1] sends no text that a row has taken the place of", async () => {
  const { join, beginTurn, putTurn, clock, store } = await setUp();
  const client = join();
  await settled();
  client.watch(session);
  const stream = await beginTurn(1);
  await settled();
  stream.append("answer", "Let ");
  stream.append("answer", "me look.");
  const calls = [sampleCall("a"), sampleCall("b")];
  await putTurn(1, { state: "calling", answer: plainText("Let me look."), calls });
  await clock.advance(100);
  stream.append("output:a", "1");
  stream.append("output:b", "2");
  stream.append("output:a", "3");
  await store.write((tx) => tx.put("toolResult", session, "1/a", sampleToolResult(1, "a")));
  await clock.advance(100);
  stream.append("output:b", "4");
  await clock.advance(100);
  const late = join();
  await settled();
  late.watch(session);
  await putTurn(1, { state: "done", answer: plainText("Let me look."), calls });
  stream.end();
  await clock.advance(100);
  expect(described(client.link.received).slice(1)).toEqual([
    "page",
    "answer@0:Let ",
    "page",
    "output:a@0:1",
    "page",
    "output:b@0:2",
    "output:b@1:4",
    "page",
  ]);
  expect(described(late.link.received).slice(1)).toEqual(["page", "output:b@0:24", "page"]);
  expect(() => stream.append("answer", "more")).toThrow("ended");
});

test("[F7] [S4] keeps no text for a connection that reads nothing, and sends it the rest in one piece", async () => {
  const { join, beginTurn, clock, store } = await setUp();
  const stalled = join();
  const quick = join();
  await settled();
  const stream = await beginTurn(1);
  await settled();
  stalled.watch(session);
  quick.watch(session);
  stream.append("answer", "Begin. ");
  await clock.advance(CHUNK_COALESCE_MS);
  stalled.link.stall();
  const filler = sampleDevice({ name: "x".repeat(PAGE_QUEUE_LOW_BYTES) });
  await store.write((tx) => tx.put("device", null, sampleDeviceId("filler"), filler));
  await settled();
  const queued = stalled.link.queuedBytes;
  for (let i = 0; i < 1_000; i += 1) {
    stream.append("answer", `word ${i} `);
    if (i % 10 === 0) await clock.advance(CHUNK_COALESCE_MS);
  }
  await clock.advance(CHUNK_COALESCE_MS);
  expect(stalled.link.queuedBytes).toBe(queued);
  expect(quick.painted(session, 1, "answer")).toBe(stream.text("answer"));
  const before = stalled.chunks.length;
  stalled.link.resume();
  await clock.advance(CHUNK_COALESCE_MS);
  expect(stalled.painted(session, 1, "answer")).toBe(stream.text("answer"));
  expect(stalled.chunks.length - before).toBe(1);
});

test("[S1] cuts what was missed into messages of bounded size, never inside a pair", async () => {
  const { join, beginTurn, clock } = await setUp();
  const stream = await beginTurn(1);
  const text = `x${"😀".repeat(300_000)}`;
  stream.append("answer", text);
  const client = join();
  client.watch(session);
  await clock.advance(1_000);
  expect(client.painted(session, 1, "answer")).toBe(text);
  expect(client.chunks.length).toBe(3);
});

test("sends text and tool starts to watchers only, and no more after unwatch", async () => {
  const { join, beginTurn, hub, clock, store } = await setUp();
  const watcher = join();
  const bystander = join();
  await settled();
  watcher.watch(session);
  const stream = await beginTurn(1);
  await settled();
  const start = (name: string) =>
    hub.live.publish(
      session,
      { type: "tool.started", turnId: 1, callId: sampleCallId(name) },
      store.head,
    );
  start("a");
  stream.append("answer", "text");
  await clock.advance(100);
  const live = (client: typeof watcher) =>
    described(client.link.received.filter(({ type }) => type === "live"));
  expect(live(watcher)).toEqual(["started a", "answer@0:text"]);
  watcher.link.say({ type: "unwatch", sessionId: session });
  start("b");
  stream.append("answer", " more");
  await clock.advance(100);
  expect(live(watcher)).toEqual(["started a", "answer@0:text"]);
  expect(live(bystander)).toEqual([]);
  watcher.watch(session);
  await clock.advance(100);
  expect(live(watcher).slice(2)).toEqual(["started a", "started b", "answer@4: more"]);
});
