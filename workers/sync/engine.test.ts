import { describe, expect, test } from "vitest";
import { HEARTBEAT_MS, HEARTBEATS_MISSED_MAX, RECONNECT_MAX_MS } from "../../shared/limits.ts";
import { nobleCrypto } from "../../shared/noise/noble-crypto.ts";
import { makeKeyPair } from "../../shared/noise/noise-crypto.ts";
import { MemoryReplica } from "../testing/memory-replica.ts";
import { requestIdOf, requestRow, sessionIdOf, sessionRow } from "../testing/rows.ts";
import { makeBytes, makeWorkbench } from "../testing/workbench.ts";

const one = sessionIdOf("one");
const two = sessionIdOf("two");
const LINK = { kind: "launch", secret: "secret" } as const;

test("[R5] learns how far its clock is ahead of the daemon's", async () => {
  const bench = makeWorkbench();
  bench.daemon.now = bench.clock.now() - 5_000;
  const page = await bench.page();
  expect(page.state).toMatchObject({ kind: "live", clockAheadMs: 5_000 });
});

describe("pages and the cursor", () => {
  test("[F2] acks a page only once it is stored", async () => {
    const bench = makeWorkbench();
    let store = () => {};
    bench.replica.beforeStore = () => new Promise((resolve) => (store = resolve));
    bench.daemon.write(sessionRow(one));
    const page = await bench.page();
    expect(page.ids("session")).toEqual([one]);
    expect(bench.daemon.of("ack")).toEqual([]);
    store();
    await bench.network.deliver();
    expect(bench.daemon.of("ack")).toEqual([{ type: "ack", cursor: 1, token: "token-1" }]);
    expect(bench.replica.stored).toMatchObject({ epoch: "epoch-1", cursor: 1, token: "token-1" });
  });

  test("[F2] keeps the cursor when the page was not stored, and gets the page again", async () => {
    const bench = makeWorkbench();
    bench.replica.beforeStore = () => Promise.reject(new Error("the disk is full"));
    bench.daemon.write(sessionRow(one));
    const page = await bench.page();
    expect(bench.daemon.of("ack")).toEqual([]);
    expect(bench.replica.stored.cursor).toBe(0);
    expect(page.state).toMatchObject({ kind: "refused", error: { code: "storage_failed" } });
    bench.replica.beforeStore = async () => {};
    await bench.clock.advance(RECONNECT_MAX_MS);
    await bench.network.deliver();
    expect(bench.daemon.of("hello").map(({ cursor }) => cursor)).toEqual([0, 0]);
    expect(bench.replica.stored.cursor).toBe(1);
    expect(page.state?.kind).toBe("live");
  });

  test("[F2] a connection lost before the ack brings the page again and changes nothing", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.replica.beforeStore = () => new Promise(() => {});
    bench.daemon.write(sessionRow(one));
    await bench.network.deliver();
    const copy = new MemoryReplica();
    copy.stored = bench.replica.stored;
    copy.keys = bench.replica.keys;
    copy.daemonKey = bench.replica.daemonKey;
    const again = makeWorkbench({ replica: copy });
    again.daemon.write(sessionRow(one));
    const reloaded = await again.page();
    expect([...reloaded.rows]).toEqual([...page.rows]);
    expect([...copy.rows.keys()]).toEqual([...page.rows.keys()]);
  });

  test("[F2] says hello from the stored cursor and receives only what follows", async () => {
    const bench = makeWorkbench();
    bench.daemon.write(sessionRow(one));
    const page = await bench.page();
    bench.network.close();
    await bench.network.deliver();
    bench.daemon.write(sessionRow(two));
    await bench.clock.advance(300);
    await bench.network.deliver();
    expect(bench.daemon.of("hello").at(-1)).toMatchObject({
      epoch: "epoch-1",
      cursor: 1,
      token: "token-1",
    });
    expect(page.ids("session")).toEqual([one, two]);
    expect(bench.daemon.of("ack").map(({ cursor }) => cursor)).toEqual([1, 2]);
  });

  test("[F2] a cursor that another worker moved further is never moved back", async () => {
    const bench = makeWorkbench();
    await bench.page();
    bench.daemon.write(sessionRow(one));
    bench.replica.stored = { ...bench.replica.stored, cursor: 5, token: "token-5" };
    await bench.network.deliver();
    expect(bench.replica.stored).toMatchObject({ cursor: 5, token: "token-5" });
  });

  test("[F3] a replica that another worker restarted is not continued over the hole", async () => {
    const bench = makeWorkbench();
    bench.daemon.write(sessionRow(one));
    const page = await bench.page();
    await bench.replica.restart("epoch-1", []);
    bench.daemon.write(sessionRow(two));
    await bench.network.deliver();
    expect(bench.daemon.of("hello").at(-1)?.cursor).toBe(0);
    expect([...bench.replica.rows.values()].map(({ id }) => id)).toEqual([one, two]);
    expect(page.ids("session")).toEqual([one, two]);
  });

  test("[F4] told to resync, it drops the rows and keeps the outbox and the drafts", async () => {
    const bench = makeWorkbench();
    bench.daemon.write(sessionRow(one));
    const page = await bench.page();
    page.say({ type: "draft", sessionId: two, text: "half a thou" });
    bench.daemon.onCall = () => undefined;
    const commandId = requestIdOf("c1");
    page.ask((id) => ({
      type: "command",
      id,
      commandId: commandId as never,
      method: "session.prompt",
      params: { sessionId: two, text: "hello" },
    }));
    await bench.network.deliver();
    bench.daemon.rows.clear();
    bench.daemon.epoch = "epoch-2";
    bench.daemon.head = 0;
    bench.daemon.write(sessionRow(two));
    bench.network.close();
    await bench.network.deliver();
    await bench.clock.advance(300);
    await bench.network.deliver();
    expect(page.ids("session")).toEqual([two]);
    expect([...bench.replica.rows.values()].map(({ id }) => id)).toEqual([two]);
    expect(bench.replica.stored).toMatchObject({ epoch: "epoch-2", cursor: 1 });
    expect(bench.replica.drafts.get(two)).toBe("half a thou");
    expect(bench.daemon.calls("session.prompt").map((call) => call.commandId)).toEqual([
      commandId,
      commandId,
    ]);
  });

  test("counts how far catching up has got, and is live when nothing is left", async () => {
    const bench = makeWorkbench();
    bench.daemon.rowsPerPage = 2;
    bench.daemon.write(sessionRow(one));
    for (let seq = 1; seq <= 4; seq++) {
      bench.daemon.write(requestRow(one, requestIdOf(`r${seq}`), seq));
    }
    const page = await bench.page();
    const states = page.told.flatMap((message) =>
      message.type === "connection" ? [message.state] : [],
    );
    expect(states.map(({ kind }) => kind)).toEqual([
      "connecting",
      "connecting",
      "handshaking",
      "catching-up",
      "catching-up",
      "live",
    ]);
    expect(states.filter(({ kind }) => kind === "catching-up")).toEqual([
      { kind: "catching-up", applied: 0, total: 0 },
      // The next page came in the same moment, and is not worth drawing.
      { kind: "catching-up", applied: 2, total: 5 },
    ]);
  });
});

describe("who is who", () => {
  test("learns the daemon's key at first contact, and from then on asks for that key alone", async () => {
    const bench = makeWorkbench();
    await bench.page(LINK);
    expect(bench.replica.daemonKey).toEqual(bench.daemon.keys.publicKey);
    expect(bench.daemon.introductions).toEqual([
      {
        versions: [1],
        appVersion: "0",
        deviceName: "Test",
        enrolment: LINK,
      },
    ]);
    bench.network.close();
    await bench.network.deliver();
    await bench.clock.advance(300);
    await bench.network.deliver();
    expect(bench.daemon.introductions.at(-1)?.enrolment).toBeNull();
  });

  test("sends nothing secret to a daemon whose key is not the one that /identity names", async () => {
    const bench = makeWorkbench();
    const impostor = makeKeyPair(nobleCrypto, makeBytes(3));
    const { identity } = bench.daemon;
    bench.daemon.identity = () => ({ ...identity.call(bench.daemon), publicKey: "another" });
    Object.assign(bench.daemon, { keys: impostor });
    const page = await bench.page(LINK);
    expect(page.state?.kind).toBe("changed-key");
    expect(bench.daemon.introductions).toEqual([]);
    expect(bench.replica.daemonKey).toBeNull();
  });

  test("says so when the daemon has another key than the one pinned, and pairs again when told", async () => {
    const bench = makeWorkbench();
    const page = await bench.page(LINK);
    const before = bench.daemon.identity().fingerprint;
    Object.assign(bench.daemon, { keys: makeKeyPair(nobleCrypto, makeBytes(3)) });
    bench.network.close();
    await bench.network.deliver();
    await bench.clock.advance(300);
    await bench.network.deliver();
    expect(page.state).toEqual({
      kind: "changed-key",
      pinned: before,
      offered: bench.daemon.identity().fingerprint,
    });
    await bench.clock.advance(10 * RECONNECT_MAX_MS);
    await bench.network.deliver();
    expect(bench.daemon.introductions).toHaveLength(1);
    page.say({ type: "enrol", enrolment: { kind: "launch", secret: "fresh" } });
    await bench.network.deliver();
    expect(page.state?.kind).toBe("live");
    expect(bench.daemon.introductions.at(-1)?.enrolment?.secret).toBe("fresh");
    expect(bench.replica.daemonKey).toEqual(bench.daemon.keys.publicKey);
  });

  test("a launch link pairs with a changed key only once that key was shown, also after a restart", async () => {
    const bench = makeWorkbench();
    await bench.page(LINK);
    await bench.page();
    Object.assign(bench.daemon, { keys: makeKeyPair(nobleCrypto, makeBytes(3)) });
    const first = makeWorkbench({ replica: bench.replica });
    Object.assign(first.daemon, { keys: bench.daemon.keys });
    const early = await first.page({ kind: "launch", secret: "opened before" });
    expect(early.state?.kind).toBe("changed-key");
    early.say({ type: "wake" });
    await first.network.deliver();
    expect(early.state?.kind).toBe("changed-key");
    expect(first.daemon.introductions).toEqual([]);

    const second = makeWorkbench({ replica: bench.replica });
    Object.assign(second.daemon, { keys: bench.daemon.keys });
    const late = await second.page({ kind: "launch", secret: "opened after" });
    expect(late.state?.kind).toBe("live");
    expect(second.daemon.introductions.at(-1)?.enrolment?.secret).toBe("opened after");
    expect(bench.replica.daemonKey).toEqual(bench.daemon.keys.publicKey);
    expect(bench.replica.offered).toBeNull();
  });

  test("a third key is shown anew, whatever was shown before", async () => {
    const bench = makeWorkbench();
    const page = await bench.page(LINK);
    for (const seed of [3, 4]) {
      Object.assign(bench.daemon, { keys: makeKeyPair(nobleCrypto, makeBytes(seed)) });
      bench.network.close();
      await bench.network.deliver();
      await bench.clock.advance(300);
      await bench.network.deliver();
      if (seed === 4) {
        page.say({ type: "enrol", enrolment: { kind: "launch", secret: "for the one before" } });
      }
      await bench.network.deliver();
      expect(page.state).toMatchObject({
        kind: "changed-key",
        offered: bench.daemon.identity().fingerprint,
      });
    }
    expect(bench.daemon.introductions).toHaveLength(1);
  });

  test("a refusal is shown with the daemon's identity, and not tried again by itself", async () => {
    const bench = makeWorkbench();
    const error = { code: "not_enrolled", message: "Who are you?", retryable: false } as const;
    bench.daemon.refusal = { outcome: "refused", error };
    const page = await bench.page();
    expect(page.state).toEqual({ kind: "refused", error, daemon: bench.daemon.identity() });
    expect(bench.replica.daemonKey).toBeNull();
    await bench.clock.advance(10 * RECONNECT_MAX_MS);
    await bench.network.deliver();
    expect(bench.network.opened).toBe(1);
  });

  test("a wake tries a refusal again without hiding it, and a launch link in another tab lets in", async () => {
    const bench = makeWorkbench();
    const error = { code: "not_enrolled", message: "Who are you?", retryable: false } as const;
    bench.daemon.refusal = { outcome: "refused", error };
    const page = await bench.page();
    page.told.length = 0;
    page.say({ type: "wake" });
    await bench.network.deliver();
    expect(bench.network.opened).toBe(2);
    expect(page.told.map((m) => m.type === "connection" && m.state.kind)).toEqual(["refused"]);
    bench.daemon.refusal = null;
    await bench.page(LINK);
    expect(page.state?.kind).toBe("live");
  });
});

describe("losing the connection", () => {
  test("[L4] a lost daemon is tried again at once for 10 s, then with growing waits, and asked for before a socket is opened", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.network.isReachable = false;
    bench.network.close();
    await bench.network.deliver();
    const waits: number[] = [];
    for (let i = 0; i < 200; i++) {
      const { state } = page;
      if (state?.kind !== "offline") throw new Error(`It is ${state?.kind}`);
      const wait = state.retryAt - bench.clock.now();
      waits.push(wait);
      await bench.clock.advance(wait);
      await bench.network.deliver();
    }
    expect(waits.slice(0, 100)).toEqual(Array.from({ length: 100 }, () => 100));
    expect(waits[102]).toBe(1998);
    expect(bench.network.opened).toBe(1);
    expect(Math.max(...waits)).toBeLessThanOrEqual(RECONNECT_MAX_MS);
    expect(waits.at(-1)).toBeGreaterThan(RECONNECT_MAX_MS * 0.9);
    bench.network.isReachable = true;
    page.say({ type: "wake" });
    await bench.network.deliver();
    expect(page.state?.kind).toBe("live");
    bench.network.close();
    await bench.network.deliver();
    expect(page.state).toMatchObject({ kind: "offline", retryAt: bench.clock.now() + 100 });
  });

  test("says why: unreachable, closed, shutting down, evicted", async () => {
    const bench = makeWorkbench();
    bench.network.isReachable = false;
    const page = await bench.page();
    expect(page.state).toMatchObject({ kind: "offline", because: "unreachable" });
    bench.network.isReachable = true;
    const back = async () => {
      page.say({ type: "wake" });
      await bench.network.deliver();
      expect(page.state?.kind).toBe("live");
    };
    await back();
    bench.network.close();
    await bench.network.deliver();
    expect(page.state).toMatchObject({ kind: "offline", because: "closed" });
    await back();
    bench.daemon.say({ type: "shuttingDown" });
    bench.network.close();
    await bench.network.deliver();
    expect(page.state).toMatchObject({ kind: "offline", because: "shutting_down" });
    await back();
    bench.daemon.say({ type: "evicted", queuedBytes: 1 });
    bench.network.close();
    await bench.network.deliver();
    expect(page.state).toMatchObject({ kind: "offline", because: "evicted" });
  });

  test("sends a beat when it said nothing for a while, and gives up a silent daemon", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    for (let i = 0; i < 5; i++) {
      await bench.clock.advance(HEARTBEAT_MS);
      bench.daemon.say({ type: "beat" });
      await bench.network.deliver();
    }
    expect(bench.daemon.of("beat").length).toBe(5);
    expect(page.state?.kind).toBe("live");
    bench.network.goDead();
    await bench.clock.advance(HEARTBEAT_MS * HEARTBEATS_MISSED_MAX - 1);
    expect(page.state?.kind).toBe("live");
    await bench.clock.advance(1);
    await bench.network.deliver();
    expect(bench.network.opened).toBe(2);
    expect(page.state?.kind).toBe("live");
  });

  test("a wake finds a dead socket within two seconds, and leaves a live one alone", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    await bench.clock.advance(1_000);
    page.say({ type: "wake" });
    await bench.network.deliver();
    await bench.clock.advance(3_000);
    expect(bench.network.opened).toBe(1);
    bench.network.goDead();
    page.say({ type: "wake" });
    await bench.clock.advance(2_000);
    await bench.network.deliver();
    expect(bench.network.opened).toBe(2);
    expect(page.state?.kind).toBe("live");
  });

  test("[L3] what was still on its way when the socket died is no sign of life", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    await bench.clock.advance(1_000);
    bench.daemon.say({ type: "beat" });
    page.say({ type: "wake" });
    bench.network.goDead();
    await bench.clock.advance(1_000);
    // Waking again puts nothing off.
    page.say({ type: "wake" });
    await bench.clock.advance(1_000);
    await bench.network.deliver();
    expect(bench.network.opened).toBe(2);
    expect(page.state?.kind).toBe("live");
  });

  test("[L3] a wake does not wait for an attempt that hangs in a network that is gone", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.network.isSilent = true;
    bench.network.close();
    await bench.network.deliver();
    await bench.clock.advance(250);
    await bench.network.deliver();
    expect(page.state?.kind).toBe("connecting");
    await bench.clock.advance(2_000);
    bench.network.isSilent = false;
    page.say({ type: "wake" });
    await bench.network.deliver();
    expect(page.state?.kind).toBe("live");
  });

  test("[L3] an attempt that has just begun, and hangs, is given up within two seconds of a wake", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.network.isSilent = true;
    bench.network.close();
    await bench.network.deliver();
    await bench.clock.advance(250);
    await bench.network.deliver();
    expect(page.state?.kind).toBe("connecting");
    page.say({ type: "wake" });
    await bench.network.deliver();
    bench.network.isSilent = false;
    await bench.clock.advance(2_000);
    await bench.network.deliver();
    expect(page.state?.kind).toBe("live");
  });

  test("[L3] a short sleep is noticed by the clock, and a dead socket within two seconds of it", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    await bench.clock.advance(400);
    bench.network.goDead();
    bench.clock.sleep(5_000);
    await bench.clock.advance(2_000);
    await bench.network.deliver();
    expect(bench.network.opened).toBe(2);
    expect(page.state?.kind).toBe("live");
  });

  test("a machine that slept reconnects as soon as it is awake", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.network.goDead();
    bench.clock.sleep(3_600_000);
    await bench.clock.advance(0);
    await bench.network.deliver();
    expect(bench.network.opened).toBe(2);
    expect(page.state?.kind).toBe("live");
  });

  test("garbage from the daemon ends that connection only", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.say({ type: "page", changes: "none" } as never);
    await bench.network.deliver();
    expect(page.state).toMatchObject({ kind: "offline", because: "closed" });
    await bench.clock.advance(300);
    await bench.network.deliver();
    expect(page.state?.kind).toBe("live");
  });

  test("a message that only a newer daemon knows is passed over", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.say({ type: "confetti" } as never);
    bench.daemon.write(sessionRow(one));
    await bench.network.deliver();
    expect(page.ids("session")).toEqual([one]);
    expect(bench.network.opened).toBe(1);
  });
});
