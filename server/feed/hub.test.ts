import { describe, expect, test } from "vitest";
import { Failure } from "../../shared/protocol/errors.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { LogFields } from "../log.ts";
import type { Dispatch } from "../methods/caller.ts";
import { makeFeedClient } from "../testing/feed-client.ts";
import { linkConnection } from "../testing/linked-connection.ts";
import {
  plainText,
  sampleDevice,
  sampleDeviceId,
  sampleSession,
  sampleSessionId,
  sampleTurn,
} from "../testing/sample-rows.ts";
import { silentLog } from "../testing/silent-log.ts";
import { openTemporaryStore } from "../testing/temporary-store.ts";
import { createHub } from "./hub.ts";

const session = sampleSessionId("session-a");
const device = sampleDeviceId("device-a");
const owner = { kind: "device", deviceId: device, role: "owner" } as const;
const hello = {
  type: "hello",
  epoch: null,
  cursor: 0,
  token: null,
  scope: { days: null, except: [] },
  packings: [],
};

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

async function setUp(dispatch: Dispatch = async () => ({})) {
  const { store, clock } = await openTemporaryStore();
  const logged: [LogFields, string][] = [];
  const log = {
    ...silentLog,
    error: (fields: LogFields, message: string) => logged.push([fields, message]),
  };
  const daemon = { name: "test", version: "1.2.3" };
  const hub = createHub({ store, clock, dispatch, daemon, log });
  const putTurn = (id: number, text = "") =>
    store.write((tx) =>
      tx.put("turn", session, String(id), sampleTurn({ answer: plainText(text) })),
    );
  return { store, clock, hub, logged, putTurn };
}

const ofType = <T extends DaemonMessage["type"]>(messages: DaemonMessage[], type: T) =>
  messages.filter(
    (message): message is Extract<DaemonMessage, { type: T }> => message.type === type,
  );

describe("the greeting", () => {
  test("welcomes a device that holds nothing and sends it every row", async () => {
    const { hub, store, clock, putTurn } = await setUp();
    await putTurn(1);
    const link = linkConnection(hub.accept, owner);
    link.say(hello);
    await settled();
    expect(link.received[0]).toEqual({
      type: "welcome",
      epoch: store.epoch,
      head: 1,
      resync: false,
      leftOut: [],
      deviceId: device,
      role: "owner",
      daemonName: "test",
      daemonVersion: "1.2.3",
      heartbeatMs: 10_000,
      now: clock.now(),
    });
    expect(link.received[1]).toMatchObject({ type: "page", upto: 1, more: 0 });
    expect(hub.connectionCount()).toBe(1);
    link.cut();
    expect(hub.connectionCount()).toBe(0);
  });

  test("lets a device go on where it stands, and sends nothing when nothing is new", async () => {
    const { hub, putTurn } = await setUp();
    await putTurn(1);
    const client = makeFeedClient(hub.accept, device);
    client.connect();
    await settled();
    client.link.cut();
    const link = client.connect();
    await settled();
    expect(link.received).toMatchObject([{ type: "welcome", resync: false, head: 1 }]);
    await putTurn(2);
    await settled();
    expect(ofType(link.received, "page").map(({ changes }) => changes.length)).toEqual([1]);
  });

  test("does not take a tab for a restored client because another tab was quicker", async () => {
    const { hub, store, putTurn } = await setUp();
    const quick = makeFeedClient(hub.accept, device);
    await putTurn(1);
    quick.connect();
    await settled();
    const behind = quick.backup();
    await putTurn(2);
    await settled();
    expect(await store.deviceCursor(device)).toBe(2);
    const slow = makeFeedClient(hub.accept, device);
    slow.restore(behind);
    slow.connect();
    await settled();
    expect([slow.resyncs, slow.cursor]).toEqual([0, 2]);
  });

  test("[F9] shows nothing to a guest", async () => {
    const { hub, putTurn } = await setUp();
    await putTurn(1);
    const link = linkConnection(hub.accept, { ...owner, role: "guest" });
    link.say(hello);
    link.say({ type: "watch", sessionId: session, at: null });
    await putTurn(2);
    hub.live.publish(session, { type: "session.doing", doing: "Thinking" }, 1);
    await settled();
    expect(link.received.map(({ type }) => type)).toEqual(["failure", "failure"]);
    expect(link.received[0]).toMatchObject({ error: { code: "not_allowed" } });
  });
});

describe("pages", () => {
  test("breaks the connection off when the feed cannot be read, instead of leaving a hole", async () => {
    const { hub, store, logged } = await setUp();
    const link = linkConnection(hub.accept, owner);
    link.say(hello);
    await settled();
    const page = store.page;
    store.page = () => Promise.reject(new Error("the disk is gone"));
    await store.write((tx) => tx.put("device", null, device, sampleDevice()));
    await settled();
    store.page = page;
    expect(link.received.at(-1)).toMatchObject({ type: "failure", error: { code: "internal" } });
    expect(link.isClosed).toBe(true);
    expect(logged).toHaveLength(1);
  });
});

describe("calls", () => {
  const call = { type: "call", id: 1, commandId: null, method: "model.list", params: {} };
  const greeted = async (dispatch: Dispatch) => {
    const parts = await setUp(dispatch);
    const link = linkConnection(parts.hub.accept, owner);
    link.say(hello);
    await settled();
    link.received.length = 0;
    return { ...parts, link };
  };

  test("[M1] answers each with its result or its failure, as they come", async () => {
    const { link } = await greeted(async (peer, { method, params, commandId }) => {
      if (method === "fail") throw new Failure("session_gone", "No such session");
      return { peer, params, commandId };
    });
    link.say({ ...call, id: 7, commandId: "command-a-------", params: { a: 1 } });
    link.say({ ...call, id: 8, method: "fail" });
    await settled();
    expect(link.received).toEqual([
      {
        type: "result",
        id: 7,
        value: { peer: owner, params: { a: 1 }, commandId: "command-a-------" },
      },
      {
        type: "failure",
        id: 8,
        error: { code: "session_gone", message: "No such session", retryable: false },
      },
    ]);
  });

  test("tells of a bug by a reference that the log has too, and of nothing else", async () => {
    const { link, logged } = await greeted(async () => {
      throw new TypeError("secret prompt text");
    });
    link.say(call);
    await settled();
    const [failure] = ofType(link.received, "failure");
    const reference = failure?.error.details?.reference;
    expect(failure).toMatchObject({ id: 1, error: { code: "internal", retryable: false } });
    expect(reference).toMatch(/^[a-z0-9]+-1$/);
    expect(logged[0]?.[0]).toMatchObject({ reference, method: "model.list" });
    expect(JSON.stringify([failure, logged])).not.toContain("secret");
  });

  test("[F7] [M4] refuses more calls at a time than it can hold, and takes them again later", async () => {
    let finish = () => {};
    const finished = new Promise<object>((resolve) => {
      finish = () => resolve({});
    });
    const { link } = await greeted(async () => finished);
    for (let id = 1; id <= 65; id += 1) link.say({ ...call, id });
    await settled();
    expect(link.received).toMatchObject([
      { type: "failure", id: 65, error: { code: "too_many_calls", retryable: true } },
    ]);
    finish();
    await settled();
    link.say({ ...call, id: 66 });
    await settled();
    expect(ofType(link.received, "result")).toHaveLength(65);
  });

  test("refuses them once the daemon is shutting down", async () => {
    const { link, hub } = await greeted(async () => ({}));
    hub.beginShutdown();
    link.say(call);
    await settled();
    expect(link.received).toMatchObject([
      { type: "failure", id: 1, error: { code: "shutting_down", retryable: true } },
    ]);
  });

  test("[M3] [N5] lets a local peer call without a hello, and a device only after it", async () => {
    const { hub } = await setUp();
    const local = linkConnection(hub.accept, { kind: "local" });
    const remote = linkConnection(hub.accept, owner);
    local.say(call);
    remote.say(call);
    await settled();
    expect(local.received).toMatchObject([{ type: "result", id: 1 }]);
    expect(remote.received).toMatchObject([
      { type: "failure", id: 1, error: { code: "bad_message" } },
    ]);
  });

  test("[N3] answers a bad message with a typed failure and goes on", async () => {
    const { link } = await greeted(async () => ({}));
    const bad: [unknown, string, number | null][] = [
      [null, "bad_message", null],
      [[1, 2], "bad_message", null],
      [{}, "bad_message", null],
      [{ type: 5, id: 3 }, "bad_message", 3],
      [{ type: "dance", id: 4 }, "unknown_message", 4],
      [{ type: "__proto__" }, "unknown_message", null],
      [{ ...call, method: 5 }, "bad_params", 1],
      [{ ...call, commandId: "short" }, "bad_params", 1],
      [{ ...call, id: -1 }, "bad_message", null],
      [{ ...call, id: "x" }, "bad_message", null],
      [{ type: "ack", cursor: "1" }, "bad_message", null],
      [{ type: "watch", sessionId: "../etc", at: null }, "bad_message", null],
      [hello, "bad_message", null],
    ];
    for (const [message] of bad) link.say(message);
    link.sayGarbage();
    await settled();
    expect(ofType(link.received, "failure").map(({ id, error }) => [error.code, id])).toEqual([
      ...bad.map(([, code, id]) => [code, id]),
      ["bad_message", null],
    ]);
    link.received.length = 0;
    link.say({ type: "beat" });
    link.say({ ...call, unknownField: true });
    await settled();
    expect(link.received).toMatchObject([{ type: "result", id: 1 }]);
  });
});

describe("what a session does", () => {
  test("reaches every connection, and one that comes later", async () => {
    const { hub, store } = await setUp();
    const early = makeFeedClient(hub.accept, device);
    early.connect();
    await settled();
    const { head } = await store.write((tx) =>
      tx.put("session", session, session, sampleSession()),
    );
    hub.live.publish(session, { type: "session.doing", doing: "Thinking" }, head);
    await settled();
    const late = makeFeedClient(hub.accept, sampleDeviceId("device-b"));
    late.connect();
    await settled();
    const thinking = { type: "live", sessionId: session, event: { doing: "Thinking" } };
    expect(early.link.received.slice(-2)).toMatchObject([{ type: "page" }, thinking]);
    expect(late.link.received.slice(-2)).toMatchObject([{ type: "page" }, thinking]);
    hub.live.publish(session, { type: "session.doing", doing: null }, head);
    const latest = makeFeedClient(hub.accept, sampleDeviceId("device-c"));
    latest.connect();
    await settled();
    expect(ofType(latest.link.received, "live")).toEqual([]);
    expect(early.link.received.at(-1)).toMatchObject({ event: { doing: null } });
  });
});
