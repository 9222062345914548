import { describe, expect, test } from "vitest";
import { type CommandId, toBase64Url } from "../../shared/ids.ts";
import { RECONNECT_MAX_MS } from "../../shared/limits.ts";
import { nobleCrypto } from "../../shared/noise/noble-crypto.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import { blobHashSchema, type TextBody } from "../../shared/protocol/rows.ts";
import { flushPromises } from "../testing/fake-clock.ts";
import {
  bodyOf,
  callIdOf,
  deviceIdOf,
  deviceRow,
  noSession,
  requestIdOf,
  requestRow,
  sessionIdOf,
  sessionRow,
  toolResultRow,
  turnRow,
} from "../testing/rows.ts";
import { FakePage, makeWorkbench, type Workbench } from "../testing/workbench.ts";
import { ReplicaError } from "./replica.ts";

const one = sessionIdOf("one");
const two = sessionIdOf("two");
const request = requestIdOf("r1");

const commandIdOf = (name: string) =>
  toBase64Url(new TextEncoder().encode(name.padEnd(16))) as CommandId;

function command(page: FakePage, name: string, method: CommandMethod, params: unknown) {
  const commandId = commandIdOf(name);
  return {
    commandId,
    id: page.ask((id) => ({ type: "command", id, commandId, method, params })),
  };
}

/** A session of `count` requests with one turn and one tool result each. */
function writeSession(bench: Workbench, count: number): void {
  bench.daemon.write(sessionRow(one));
  for (let n = 1; n <= count; n++) {
    const id = requestIdOf(`r${n}`);
    bench.daemon.write(
      requestRow(one, id, n),
      turnRow(one, n, id, { answer: bodyOf(`Answer ${n}`) }),
      toolResultRow(one, n, callIdOf("call")),
    );
  }
}

const chunk = (offset: number, text: string, part: "answer" | "reasoning" = "answer") =>
  ({ type: "turn.chunk", turnId: 1, part, offset, text }) as const;
const answerKey = `${one}/1/answer`;

describe("what a page is given", () => {
  test("the rail comes from disk, with no network at all", async () => {
    const first = makeWorkbench();
    first.daemon.write(sessionRow(one), sessionRow(two), deviceRow(deviceIdOf("d1")));
    await first.page();
    const offline = makeWorkbench({ replica: first.replica });
    offline.network.isReachable = false;
    const page = await offline.page();
    expect(page.ids("session")).toEqual([one, two]);
    expect(page.ids("device")).toEqual([deviceIdOf("d1")]);
    expect(page.state).toMatchObject({ kind: "offline", because: "unreachable" });
  });

  test("an open session gives its last 30 requests, and the 30 before when asked", async () => {
    const bench = makeWorkbench();
    writeSession(bench, 70);
    await bench.page();
    bench.network.isReachable = false;
    bench.network.close();
    const page = await bench.page();
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    expect(page.opened(one)).toMatchObject({ found: true, hasEarlier: true });
    expect(page.ids("request")).toHaveLength(30);
    expect(page.ids("turn").at(0)).toBe("41");
    expect(page.ids("toolResult")).toHaveLength(30);
    page.say({ type: "earlier", sessionId: one });
    await bench.network.deliver();
    expect(page.ids("request")).toHaveLength(60);
    page.say({ type: "earlier", sessionId: one });
    await bench.network.deliver();
    expect(page.ids("turn")).toHaveLength(70);
    expect(page.opened(one)).toMatchObject({ hasEarlier: false });
  });

  test("a session that is not here is said to be missing, and its draft is kept all the same", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    page.say({ type: "draft", sessionId: two, text: "later" });
    page.say({ type: "open", sessionId: two });
    await bench.network.deliver();
    expect(page.opened(two)).toEqual({
      type: "opened",
      sessionId: two,
      found: false,
      hasEarlier: false,
      isWhole: true,
      draft: "later",
    });
  });

  test("[F1] rows of an open session come as the feed brings them; of others only the session row", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    bench.daemon.write(sessionRow(one), requestRow(one, request, 1), turnRow(one, 1, request));
    bench.daemon.write(sessionRow(two), requestRow(two, request, 1));
    await bench.network.deliver();
    expect(page.ids("session")).toEqual([one, two]);
    expect([...page.rows.values()].filter(({ sessionId }) => sessionId === two)).toHaveLength(1);
    bench.daemon.write(noSession(one));
    await bench.network.deliver();
    expect([...page.rows.values()].map(({ sessionId }) => sessionId)).toEqual([two]);
  });

  test("rows that come while a session is being read from disk are not undone by what was read", async () => {
    const bench = makeWorkbench();
    bench.daemon.write(sessionRow(one, { title: "old" }));
    const page = await bench.page();
    page.say({ type: "open", sessionId: one });
    bench.daemon.write(sessionRow(one, { title: "new" }));
    bench.daemon.write(noSession(two));
    await bench.network.deliver();
    const rows = [...page.rows.values()].filter(({ kind }) => kind === "session");
    expect(rows.map(({ row }) => row && "title" in row && row.title)).toEqual(["new"]);
  });

  test("what sessions are doing reaches every page, also one that comes later, and ends with the connection", async () => {
    const bench = makeWorkbench();
    bench.daemon.write(sessionRow(one));
    const page = await bench.page();
    bench.daemon.live(one, { type: "session.doing", doing: "Thinking" });
    await bench.network.deliver();
    const doing = (of: FakePage) =>
      of.told.flatMap((m) =>
        m.type === "live" && m.event.type === "session.doing" ? [m.event.doing] : [],
      );
    const late = await bench.page();
    expect([doing(page), doing(late)]).toEqual([["Thinking"], ["Thinking"]]);
    bench.network.close();
    await bench.network.deliver();
    expect(doing(late)).toEqual(["Thinking", null]);
  });

  test("a page that left is told nothing more, and its sessions are watched no longer", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    page.say({ type: "open", sessionId: one });
    page.say({ type: "detach" });
    page.told.length = 0;
    bench.daemon.write(sessionRow(one));
    await bench.network.deliver();
    expect(page.told).toEqual([]);
    expect(bench.daemon.of("unwatch")).toEqual([{ type: "unwatch", sessionId: one }]);
  });
});

describe("streams", () => {
  test("a page that crashed is noticed by its lock, and forgotten", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    page.say({ type: "alive", lock: "page 1" });
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    bench.locks.get("page 1")?.();
    await bench.network.deliver();
    expect(bench.daemon.of("unwatch")).toMatchObject([{ sessionId: one }]);
    page.told.length = 0;
    bench.daemon.write(sessionRow(one));
    await bench.network.deliver();
    expect(page.told).toEqual([]);
  });

  test("a session whose rows were damaged is shown once they have come anew", async () => {
    const bench = makeWorkbench();
    writeSession(bench, 3);
    const page = await bench.page();
    const { window } = bench.replica;
    bench.replica.window = () => Promise.reject(new ReplicaError("damaged", "A row is broken."));
    page.say({ type: "open", sessionId: one });
    await flushPromises();
    await flushPromises();
    bench.replica.window = window;
    await bench.network.deliver();
    expect(page.opened(one)).toMatchObject({ found: true });
    expect(page.ids("request")).toHaveLength(3);
  });

  test("[F6] chunks reach the pages that have the session open, and end when the row has the text", async () => {
    const bench = makeWorkbench();
    bench.daemon.write(sessionRow(one), turnRow(one, 1, request, { state: "streaming" }));
    const page = await bench.page();
    const other = await bench.page();
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    bench.daemon.live(one, chunk(0, "Hel"));
    bench.daemon.live(one, chunk(3, "lo"));
    await bench.network.deliver();
    expect(page.texts.get(answerKey)).toBe("Hello");
    expect(other.texts.size).toBe(0);
    bench.daemon.write(turnRow(one, 1, request, { answer: bodyOf("Hello") }));
    await bench.network.deliver();
    expect(page.ended).toEqual([answerKey]);
  });

  test("a page that joins late starts with all that was held", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    bench.daemon.live(one, chunk(0, "Hello, "));
    await bench.network.deliver();
    const late = await bench.page();
    late.say({ type: "open", sessionId: one });
    bench.daemon.live(one, chunk(7, "world"));
    await bench.network.deliver();
    expect(late.texts.get(answerKey)).toBe("Hello, world");
    expect(page.texts.get(answerKey)).toBe("Hello, world");
    expect(bench.daemon.of("watch")).toHaveLength(1);
  });

  test("a reconnect in the middle of a word asks for what follows, and nothing is lost or doubled", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    bench.daemon.live(one, chunk(0, "thinking", "reasoning"));
    bench.daemon.live(one, chunk(0, "Hel"));
    await bench.network.deliver();
    bench.network.close();
    await bench.network.deliver();
    await bench.clock.advance(300);
    await bench.network.deliver();
    expect(bench.daemon.of("watch").at(-1)).toEqual({
      type: "watch",
      sessionId: one,
      at: { turnId: 1, offsets: { reasoning: 8, answer: 3 } },
    });
    bench.daemon.live(one, chunk(1, "ello"));
    bench.daemon.live(one, chunk(0, "Hello"));
    await bench.network.deliver();
    expect(page.texts.get(answerKey)).toBe("Hello");
  });

  test("a hole is never painted over: it asks again from where the text ends", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    bench.daemon.live(one, chunk(0, "abc"));
    bench.daemon.live(one, chunk(6, "ghi"));
    bench.daemon.live(one, chunk(9, "jkl"));
    await bench.network.deliver();
    expect(page.texts.get(answerKey)).toBe("abc");
    expect(bench.daemon.of("watch")).toHaveLength(2);
    expect(bench.daemon.of("watch").at(-1)?.at?.offsets).toEqual({ answer: 3 });
    bench.daemon.live(one, chunk(3, "defghijkl"));
    await bench.network.deliver();
    expect(page.texts.get(answerKey)).toBe("abcdefghijkl");
  });

  test("[F8] the text of an interrupted turn gives way to its row", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    page.say({ type: "open", sessionId: one });
    await bench.network.deliver();
    bench.daemon.live(one, chunk(0, "half an ans"));
    await bench.network.deliver();
    bench.network.close();
    bench.daemon.write(
      turnRow(one, 1, request, { state: "interrupted", answer: bodyOf("half an a") }),
    );
    await bench.network.deliver();
    await bench.clock.advance(300);
    await bench.network.deliver();
    expect(page.ended).toEqual([answerKey]);
    page.say({ type: "open", sessionId: one });
    page.texts.clear();
    await bench.network.deliver();
    expect(page.texts.size).toBe(0);
  });
});

describe("commands and questions", () => {
  test("[F5] a command is on disk before it is sent, and gone when answered", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    let onDisk: CommandId[] = [];
    bench.daemon.onCall = () => {
      onDisk = [...bench.replica.outboxEntries.keys()];
      return {};
    };
    const { commandId, id } = command(page, "a", "session.pin", { sessionId: one, pinned: true });
    await bench.network.deliver();
    expect(onDisk).toEqual([commandId]);
    expect(page.answerTo(id)).toEqual({ type: "value", id, value: {} });
    expect(bench.replica.outboxEntries.size).toBe(0);
    expect(page.outbox).toEqual([]);
  });

  test("[F5] a command whose answer was lost is sent again under the same id", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = () => undefined;
    const params = { sessionId: one, pinned: true };
    const { commandId, id } = command(page, "a", "session.pin", params);
    await bench.network.deliver();
    bench.network.close();
    await bench.network.deliver();
    expect(page.answerTo(id)).toBeUndefined();
    expect(page.outbox).toMatchObject([{ commandId, state: "sent" }]);
    bench.daemon.onCall = () => ({});
    await bench.clock.advance(300);
    await bench.network.deliver();
    expect(bench.daemon.calls("session.pin")).toMatchObject([
      { commandId, params },
      { commandId, params },
    ]);
    expect(page.answerTo(id)).toMatchObject({ type: "value" });
  });

  test("[F5] a session and a prompt made offline go out in order, also after a reload", async () => {
    const bench = makeWorkbench();
    bench.network.isReachable = false;
    const page = await bench.page();
    const created = command(page, "a", "session.create", { workingDir: "/tmp" });
    command(page, "b", "session.prompt", { sessionId: created.commandId, text: "hello" });
    await bench.network.deliver();
    expect(page.outbox.map(({ method }) => method)).toEqual(["session.create", "session.prompt"]);
    page.say({ type: "detach" });

    const reloaded = makeWorkbench({ replica: bench.replica });
    const order: string[] = [];
    reloaded.daemon.onCall = ({ method, commandId }) => {
      order.push(method);
      return method === "session.create"
        ? { sessionId: commandId }
        : { requestId: commandId, queued: false };
    };
    await reloaded.page();
    expect(order).toEqual(["session.create", "session.prompt"]);
    expect(bench.replica.outboxEntries.size).toBe(0);
  });

  test("one command of a session at a time, sessions beside each other", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = () => undefined;
    command(page, "a", "session.pin", { sessionId: one, pinned: true });
    command(page, "b", "session.pin", { sessionId: one, pinned: false });
    command(page, "c", "session.pin", { sessionId: two, pinned: true });
    await bench.network.deliver();
    expect(bench.daemon.calls("session.pin").map(({ commandId }) => commandId)).toEqual([
      commandIdOf("a"),
      commandIdOf("c"),
    ]);
  });

  test("a refused command is gone and its page hears why; one that did not get through is tried again", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = () => {
      throw new Failure("session_gone", "There is no such session.");
    };
    const gone = command(page, "a", "session.pin", { sessionId: one, pinned: true });
    await bench.network.deliver();
    expect(page.answerTo(gone.id)).toMatchObject({ error: { code: "session_gone" } });
    expect(bench.replica.outboxEntries.size).toBe(0);

    bench.daemon.onCall = () => {
      throw new Failure("shutting_down", "Later.", { retryable: true });
    };
    const kept = command(page, "b", "session.pin", { sessionId: one, pinned: true });
    await bench.network.deliver();
    expect(page.outbox).toHaveLength(1);
    bench.daemon.onCall = () => ({});
    await bench.clock.advance(1_000);
    await bench.network.deliver();
    expect(page.answerTo(kept.id)).toMatchObject({ type: "value" });
  });

  test("a command that found too many calls under way is sent again", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = () => {
      throw new Failure("too_many_calls", "Wait for one of them.", { retryable: true });
    };
    const kept = command(page, "a", "session.pin", { sessionId: one, pinned: true });
    await bench.network.deliver();
    expect(page.answerTo(kept.id)).toBeUndefined();
    bench.daemon.onCall = () => ({});
    await bench.clock.advance(1_000);
    await bench.network.deliver();
    expect(page.answerTo(kept.id)).toMatchObject({ type: "value" });
  });

  const withdraw = async (bench: Workbench, page: FakePage, commandId: CommandId) => {
    const id = page.ask((asked) => ({ type: "withdraw", id: asked, commandId }));
    await bench.network.deliver();
    return page.answerTo(id);
  };
  const pin = { sessionId: one, pinned: true };

  test("a command that waits can be withdrawn, and is never sent", async () => {
    const bench = makeWorkbench();
    bench.network.isReachable = false;
    const page = await bench.page();
    const { commandId, id } = command(page, "a", "session.pin", pin);
    await bench.network.deliver();
    expect(await withdraw(bench, page, commandId)).toMatchObject({ type: "value", value: true });
    expect(page.outbox).toEqual([]);
    expect(bench.replica.outboxEntries.size).toBe(0);
    bench.network.isReachable = true;
    await bench.clock.advance(RECONNECT_MAX_MS);
    await bench.network.deliver();
    expect(page.state?.kind).toBe("live");
    expect(bench.daemon.calls("session.pin")).toEqual([]);
    expect(page.answerTo(id)).toBeUndefined();
  });

  test("[F5] a command that was sent cannot be withdrawn, not even once the connection is lost", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    const { commandId } = command(page, "a", "session.pin", pin);
    bench.daemon.onCall = () => {
      bench.network.isReachable = false;
      bench.network.goDead();
      return {};
    };
    await bench.network.deliver();
    expect(await withdraw(bench, page, commandId)).toMatchObject({ value: false });
    const reloaded = makeWorkbench({ replica: bench.replica });
    reloaded.network.isReachable = false;
    const later = await reloaded.page();
    expect(await withdraw(reloaded, later, commandId)).toMatchObject({ value: false });
    expect(bench.replica.outboxEntries.size).toBe(1);
  });

  test("what one worker withdrew, another that had taken it up does not send", async () => {
    const bench = makeWorkbench();
    bench.network.isReachable = false;
    const page = await bench.page();
    const { commandId } = command(page, "a", "session.pin", pin);
    await bench.network.deliver();
    const other = new FakePage(bench.makeSync());
    await bench.network.deliver();
    expect(other.outbox).toHaveLength(1);
    await withdraw(bench, page, commandId);
    bench.network.isReachable = true;
    await bench.clock.advance(RECONNECT_MAX_MS);
    await bench.network.deliver();
    expect(other.state?.kind).toBe("live");
    expect(other.outbox).toEqual([]);
    expect(bench.daemon.calls("session.pin")).toEqual([]);
  });

  test("[F5] what a worker left that is gone, another beside it sends when it connects", async () => {
    const bench = makeWorkbench();
    bench.network.isReachable = false;
    const page = await bench.page();
    const gone = makeWorkbench({ replica: bench.replica });
    gone.network.isReachable = false;
    command(await gone.page(), "a", "session.pin", pin);
    await gone.network.deliver();
    expect(page.outbox).toEqual([]);
    bench.daemon.onCall = () => ({});
    bench.network.isReachable = true;
    await bench.clock.advance(RECONNECT_MAX_MS);
    await bench.network.deliver();
    expect(bench.daemon.calls("session.pin")).toHaveLength(1);
    expect(bench.replica.outboxEntries.size).toBe(0);
  });

  test("a command that cannot be stored is sent all the same", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = () => ({});
    bench.replica.beforePut = () => Promise.reject(new Error("The disk is full."));
    const { id } = command(page, "a", "session.pin", pin);
    await bench.network.deliver();
    expect(page.answerTo(id)).toMatchObject({ type: "value" });
    expect(bench.faults).toHaveLength(1);
  });

  test("a question has an answer of the agreed shape, or a failure; at once without a connection", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = () => ({ models: [], preferred: "builtin/guide", extra: 1 });
    const ask = () => page.ask((id) => ({ type: "query", id, method: "model.list", params: {} }));
    const good = ask();
    await bench.network.deliver();
    expect(page.answerTo(good)).toEqual({
      type: "value",
      id: good,
      value: { models: [], preferred: "builtin/guide" },
    });
    bench.daemon.onCall = () => ({ models: "none" });
    const bad = ask();
    await bench.network.deliver();
    expect(page.answerTo(bad)).toMatchObject({ error: { code: "internal" } });
    bench.network.isReachable = false;
    bench.network.close();
    await bench.network.deliver();
    const offline = ask();
    await bench.network.deliver();
    expect(page.answerTo(offline)).toMatchObject({
      type: "failure",
      error: { code: "not_connected", retryable: true },
    });
  });
});

describe("long texts", () => {
  const text = "Grüße, ".repeat(10_000);
  const bytes = new TextEncoder().encode(text);
  const hex = Array.from(nobleCrypto.hash(bytes), (b) => b.toString(16).padStart(2, "0")).join("");
  const body: TextBody = {
    head: text.slice(0, 100),
    size: bytes.length,
    blob: blobHashSchema.parse(hex),
  };
  const serve = (from: Uint8Array) => (call: { params: unknown }) => {
    const offset = Number((call.params as { offset: number }).offset);
    return { bytes: from.subarray(offset, offset + 20_000), size: from.length };
  };
  const write = (bench: Workbench) =>
    bench.daemon.write(sessionRow(one), turnRow(one, 1, request, { answer: body }));

  test("are fetched in the background, so that the session reads whole offline", async () => {
    const bench = makeWorkbench();
    write(bench);
    bench.daemon.onCall = serve(bytes);
    await bench.page();
    await bench.clock.advance(1_000);
    for (let i = 0; i < 10; i++) await bench.network.deliver();
    expect(bench.replica.wanted.size).toBe(0);
    const offline = makeWorkbench({ replica: bench.replica });
    offline.network.isReachable = false;
    const page = await offline.page();
    const id = page.ask((asked) => ({ type: "text", id: asked, body }));
    await offline.network.deliver();
    expect(page.answerTo(id)).toEqual({ type: "value", id, value: text });
  });

  test("that someone looked at are on disk at once", async () => {
    const bench = makeWorkbench();
    bench.daemon.onCall = serve(bytes);
    const page = await bench.page();
    write(bench);
    await bench.network.deliver();
    page.ask((id) => ({ type: "text", id, body }));
    for (let i = 0; i < 10; i++) await bench.network.deliver();
    // The clock stands still: nothing was fetched in the background.
    expect(bench.replica.blobs.get(blobHashSchema.parse(hex))).toEqual(bytes);
    expect(bench.replica.wanted.size).toBe(0);
  });

  test("that no row names any more leave the disk once the device has caught up", async () => {
    const bench = makeWorkbench();
    write(bench);
    bench.daemon.onCall = serve(bytes);
    await bench.page();
    await bench.clock.advance(1_000);
    for (let i = 0; i < 10; i++) await bench.network.deliver();
    expect(bench.replica.blobs.size).toBe(1);
    bench.daemon.write(turnRow(one, 1, request, { answer: bodyOf("Short") }));
    await bench.network.deliver();
    const later = makeWorkbench({ replica: bench.replica });
    await later.page();
    await later.clock.advance(1_000);
    await later.network.deliver();
    expect(bench.replica.blobs.size).toBe(0);
  });

  test("are asked for when they are not here, and refused when they are not what the hash says", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = serve(bytes);
    const good = page.ask((id) => ({ type: "text", id, body }));
    for (let i = 0; i < 10; i++) await bench.network.deliver();
    expect(page.answerTo(good)).toEqual({ type: "value", id: good, value: text });
    bench.daemon.onCall = serve(bytes.map((byte) => byte ^ 1));
    const bad = page.ask((id) => ({ type: "text", id, body }));
    for (let i = 0; i < 10; i++) await bench.network.deliver();
    expect(page.answerTo(bad)).toMatchObject({ error: { code: "internal" } });
  });

  test("that the daemon has no more are not asked for again and again", async () => {
    const bench = makeWorkbench();
    write(bench);
    bench.daemon.onCall = () => {
      throw new Failure("blob_gone", "There is no such text.");
    };
    await bench.page();
    await bench.clock.advance(1_000);
    await bench.network.deliver();
    await bench.clock.advance(10_000);
    await bench.network.deliver();
    expect(bench.daemon.calls("blob.read")).toHaveLength(1);
    expect(bench.faults).toEqual([]);
  });
});
