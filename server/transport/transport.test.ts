import { once } from "node:events";
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { HANDSHAKE_TIMEOUT_MS, HEARTBEAT_MS, HEARTBEATS_MISSED_MAX } from "../../shared/limits.ts";
import { CLOSE_CODES } from "../../shared/protocol/close-codes.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import { deviceIdOf } from "../feed/devices.ts";
import { runTransport } from "../testing/running-transport.ts";
import { connectClient, makeKeys, openFrames } from "../testing/socket-client.ts";

const beat = { type: "beat" } as const;
/** A message of about `size` bytes; text, which compares faster than bytes. */
const large = (size: number): DaemonMessage => ({
  type: "result",
  id: 1,
  value: "x".repeat(size),
});

describe("WebSocket way in", () => {
  it("[H1] [N1] admits by XX and by IK and carries messages both ways, large ones in pieces", async () => {
    const { transport, whenAccepted } = await runTransport();
    const keys = makeKeys();
    const first = await connectClient(transport.origin, { keys });
    const daemonKey = Buffer.from(transport.identity.publicKey, "base64url");
    const second = await connectClient(transport.origin, { keys, daemonKey });
    for (const [index, client] of [first, second].entries()) {
      expect(client.admission).toEqual({
        outcome: "admitted",
        version: 1,
        deviceId: deviceIdOf(keys.publicKey),
        role: "owner",
      });
      const { connection, nextMessage } = await whenAccepted(index);
      const heard = nextMessage();
      const question = { type: "ask", text: String(index).repeat(200_000) };
      client.send(question);
      expect(await heard).toEqual(question);
      connection.send(large(300_000));
      expect(await client.next()).toEqual(large(300_000));
    }
    expect(transport.connections()).toBe(2);
  });

  it("answers 421 to a foreign Host and 403 to a foreign or missing Origin", async () => {
    const { transport } = await runTransport();
    const open = (options: Parameters<typeof openFrames>[1]) =>
      openFrames(transport.origin, options);
    await expect(open({ headers: { Host: "evil.example" } })).rejects.toThrow("refused 421");
    await expect(open({ origin: "http://evil.example" })).rejects.toThrow("refused 403");
    await expect(open({ origin: null })).rejects.toThrow("refused 403");
    await expect(open({ origin: "null" })).rejects.toThrow("refused 403");
    await expect(open({ path: "/other" })).rejects.toThrow("refused 404");
    await expect(open({ protocols: [] })).rejects.toThrow("refused 400");
    await expect(open({ protocols: ["troupe.2"] })).rejects.toThrow("refused 400");
  });

  it("[H5] gives a stranger nothing but a worded refusal, and closes", async () => {
    const error = { code: "not_enrolled", message: "Who?", retryable: false } as const;
    const { transport, accepted } = await runTransport({
      admit: async () => ({ outcome: "refused", error }),
    });
    const client = await connectClient(transport.origin);
    expect(client.admission).toEqual({ outcome: "refused", error });
    client.send({ type: "hello" });
    await expect(client.next()).rejects.toThrow(`closed ${CLOSE_CODES.refused}`);
    expect(accepted).toEqual([]);
    expect(transport.connections()).toBe(0);
  });

  it("[H4] refuses another protocol version and says which side to update", async () => {
    const { transport } = await runTransport();
    const old = await connectClient(transport.origin, { introduction: { versions: [0] } });
    const young = await connectClient(transport.origin, { introduction: { versions: [2, 3] } });
    const none = await connectClient(transport.origin, { introduction: { versions: [] } });
    for (const [client, update] of [
      [old, "client"],
      [young, "daemon"],
      [none, "client"],
    ] as const) {
      expect(client.admission).toMatchObject({
        outcome: "refused",
        error: { code: "version_mismatch", details: { update, daemonVersion: "1.2.3" } },
      });
    }
    const both = await connectClient(transport.origin, { introduction: { versions: [7, 1] } });
    expect(both.admission).toMatchObject({ outcome: "admitted", version: 1 });
  });

  it.each([
    ["a name without end", { deviceName: "x".repeat(201) }],
    ["versions without end", { versions: new Array<number>(10_000).fill(7) }],
  ])("refuses an introduction of the wrong shape: %s", async (_what, introduction) => {
    const { transport } = await runTransport();
    const { admission } = await connectClient(transport.origin, { introduction });
    expect(admission).toMatchObject({ outcome: "refused", error: { code: "bad_message" } });
  });

  it("[G3] lets one more in where sockets that never begin hold all places", async () => {
    const { transport } = await runTransport({ limits: { strangersMax: 3 } });
    const dawdlers = [];
    for (let n = 0; n < 3; n += 1) dawdlers.push(await openFrames(transport.origin));
    const client = await connectClient(transport.origin);
    expect(client.admission.outcome).toBe("admitted");
    expect((await dawdlers[0]?.closed)?.code).toBe(CLOSE_CODES.handshakeTooSlow);
    expect(dawdlers.map(({ ws }) => ws.readyState)).toEqual([3, 1, 1]);
  });

  it("turns a bug in admission into a refusal", async () => {
    const { transport } = await runTransport({ admit: () => Promise.reject(new Error("secret")) });
    const { admission } = await connectClient(transport.origin);
    expect(admission).toMatchObject({ outcome: "refused", error: { code: "internal" } });
    expect(JSON.stringify(admission)).not.toContain("secret");
  });

  it.each([
    ["no bytes", []],
    ["an unknown mode", [0x03, ...new Array(32).fill(7)]],
    ["a short XX message", [0x02, ...new Array(31).fill(7)]],
    ["an XX message with a payload", [0x02, ...new Array(40).fill(7)]],
    ["an XX message of zeros", [0x02, ...new Array(32).fill(0)]],
    ["an IK message of garbage", [0x01, ...new Array(200).fill(7)]],
  ])("closes a socket whose first frame is %s", async (_what, bytes) => {
    const { transport } = await runTransport();
    const frames = await openFrames(transport.origin);
    frames.ws.send(Uint8Array.from(bytes));
    expect((await frames.closed).code).toBe(CLOSE_CODES.handshakeFailed);
  });

  it("closes a socket that sends text, or a frame over the limit", async () => {
    const { transport } = await runTransport();
    const text = await openFrames(transport.origin);
    text.ws.send("hello");
    expect((await text.closed).code).toBe(CLOSE_CODES.notBinary);
    const long = await openFrames(transport.origin);
    long.ws.send(new Uint8Array(65_537));
    expect((await long.closed).code).toBe(1009);
  });

  it("[H1] cuts a handshake that dawdles, at any point, after HANDSHAKE_TIMEOUT_MS", async () => {
    const { transport, clock } = await runTransport();
    const silent = await openFrames(transport.origin);
    const halfway = await openFrames(transport.origin);
    halfway.ws.send(Uint8Array.of(0x02, ...makeKeys().publicKey));
    await halfway.next();
    const admitted = await connectClient(transport.origin);
    await clock.advance(HANDSHAKE_TIMEOUT_MS - 1);
    expect(silent.ws.readyState).toBe(silent.ws.OPEN);
    await clock.advance(1);
    expect((await silent.closed).code).toBe(CLOSE_CODES.handshakeTooSlow);
    expect((await halfway.closed).code).toBe(CLOSE_CODES.handshakeTooSlow);
    expect(admitted.frames.ws.readyState).toBe(admitted.frames.ws.OPEN);
  });

  it("[L2] counts the bytes that come, no message among them, and closes after three silent beats", async () => {
    const { transport, clock } = await runTransport();
    const { ws, closed } = (await connectClient(transport.origin)).frames;
    for (let round = 0; round < 5; round += 1) {
      await clock.advance(2 * HEARTBEAT_MS);
      const ponged = once(ws, "pong");
      ws.ping();
      await ponged;
    }
    expect(ws.readyState).toBe(ws.OPEN);
    await clock.advance(HEARTBEATS_MISSED_MAX * HEARTBEAT_MS);
    expect((await closed).code).toBe(CLOSE_CODES.silent);
  });

  it("[N3] closes only the connection whose frame is garbage, cut, replayed or out of order", async () => {
    const { transport, whenAccepted } = await runTransport();
    const bystander = await connectClient(transport.origin);
    const breaks: ((seal: (message: unknown) => Uint8Array) => Uint8Array[])[] = [
      () => [new Uint8Array(100).fill(7)],
      () => [new Uint8Array(0)],
      (seal) => [seal(1).subarray(0, -1)],
      (seal) => {
        const frame = seal(1);
        return [frame, frame];
      },
      (seal) => [seal(1), seal(2)].reverse(),
    ];
    for (const [index, makeFrames] of breaks.entries()) {
      const client = await connectClient(transport.origin);
      const { closed } = await whenAccepted(index + 1);
      const seal = (message: unknown) => client.channel.seal(Uint8Array.of(Number(message)))[0];
      for (const frame of makeFrames((message) => seal(message) ?? new Uint8Array(0))) {
        client.frames.ws.send(frame);
      }
      expect((await client.frames.closed).code).toBe(CLOSE_CODES.channelFailed);
      await closed;
    }
    const { nextMessage } = await whenAccepted(0);
    const heard = nextMessage();
    bystander.send({ still: "here" });
    expect(await heard).toEqual({ still: "here" });
  });

  it("[N3] goes on after bytes that are no MessagePack", async () => {
    const { transport, whenAccepted } = await runTransport();
    const client = await connectClient(transport.origin);
    const { nextMessage, undecodable, messages } = await whenAccepted(0);
    const reported = nextMessage();
    for (const frame of client.channel.seal(Uint8Array.of(0xc1))) client.frames.ws.send(frame);
    await reported;
    expect(undecodable).toHaveLength(1);
    const heard = nextMessage();
    client.send({ type: "x" });
    await heard;
    expect(messages).toEqual([{ type: "x" }]);
  });

  it("hears what a client sends before it has read its admission", async () => {
    let letIn = () => {};
    const gate = new Promise<void>((resolve) => {
      letIn = resolve;
    });
    let asked = () => {};
    const whenAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const { transport, whenAccepted } = await runTransport({
      async admit(publicKey) {
        asked();
        await gate;
        const deviceId = deviceIdOf(publicKey);
        return { outcome: "admitted", version: 1, deviceId, role: "owner" };
      },
    });
    const connecting = connectClient(transport.origin);
    await whenAsked;
    letIn();
    const client = await connecting;
    client.send({ n: 1 });
    const { nextMessage, messages } = await whenAccepted(0);
    if (messages.length === 0) await nextMessage();
    expect(messages).toEqual([{ n: 1 }]);
  });

  it("[G5] refuses the connection over the limit, in words, and takes one again when another left", async () => {
    const { transport, accepted } = await runTransport({ limits: { connectionsMax: 2 } });
    const first = await connectClient(transport.origin);
    await connectClient(transport.origin);
    const third = await connectClient(transport.origin);
    expect(third.admission).toMatchObject({
      outcome: "refused",
      error: { code: "too_many_connections", retryable: true },
    });
    first.frames.ws.close();
    await accepted[0]?.closed;
    expect((await connectClient(transport.origin)).admission.outcome).toBe("admitted");
  });

  it("[G5] keeps half of the places for owners, however many come by links", async () => {
    let role: "owner" | "viewer" = "viewer";
    const { transport, accepted } = await runTransport({
      limits: { connectionsMax: 4 },
      async admit(publicKey) {
        return { outcome: "admitted", version: 1, deviceId: deviceIdOf(publicKey), role };
      },
    });
    const first = await connectClient(transport.origin);
    await connectClient(transport.origin);
    const refused = { error: { code: "too_many_connections", retryable: true } };
    expect((await connectClient(transport.origin)).admission).toMatchObject(refused);
    role = "owner";
    for (let count = 0; count < 2; count += 1) {
      expect((await connectClient(transport.origin)).admission.outcome).toBe("admitted");
    }
    expect((await connectClient(transport.origin)).admission).toMatchObject(refused);
    first.frames.ws.close();
    await accepted[0]?.closed;
    role = "viewer";
    expect((await connectClient(transport.origin)).admission.outcome).toBe("admitted");
  });

  it("[G5] refuses the 257th connection", async () => {
    const { transport } = await runTransport();
    const daemonKey = Buffer.from(transport.identity.publicKey, "base64url");
    for (let count = 0; count < 256; count += 1) {
      const { admission } = await connectClient(transport.origin, { daemonKey });
      expect(admission.outcome).toBe("admitted");
    }
    const last = await connectClient(transport.origin, { daemonKey });
    expect(last.admission).toMatchObject({ error: { code: "too_many_connections" } });
    expect(transport.connections()).toBe(256);
  }, 30_000);
});

describe("connection", () => {
  it("tells a revoked device why and closes its connections, and nobody else's", async () => {
    const { transport, accepted } = await runTransport();
    const keys = makeKeys();
    const revoked = await connectClient(transport.origin, { keys });
    const other = await connectClient(transport.origin);
    const error = { code: "device_revoked", message: "Revoked.", retryable: false } as const;
    transport.closeDevice(deviceIdOf(keys.publicKey), error);
    expect(await revoked.next()).toEqual({ type: "failure", id: null, error });
    expect((await revoked.frames.closed).code).toBe(CLOSE_CODES.revoked);
    await accepted[0]?.closed;
    expect(other.frames.ws.readyState).toBe(other.frames.ws.OPEN);
  });

  it("lets no device in that was revoked while it was being admitted", async () => {
    const keys = makeKeys();
    const error = { code: "device_revoked", message: "Revoked.", retryable: false } as const;
    const running = await runTransport({
      async admit(publicKey) {
        const deviceId = deviceIdOf(publicKey);
        running.transport.closeDevice(deviceId, error);
        return { outcome: "admitted", version: 1, deviceId, role: "owner" };
      },
    });
    const client = await connectClient(running.transport.origin, { keys });
    expect(client.admission).toEqual({ outcome: "refused", error });
    expect(running.accepted).toEqual([]);
  });

  it("[L1] [L2] beats when it has nothing to say, and closes a peer that is silent for three beats", async () => {
    const { transport, clock, whenAccepted } = await runTransport();
    const client = await connectClient(transport.origin);
    const { closed, messages } = await whenAccepted(0);
    await clock.advance(HEARTBEAT_MS);
    expect(await client.next()).toEqual(beat);
    await clock.advance(HEARTBEAT_MS);
    expect(await client.next()).toEqual(beat);
    await clock.advance(HEARTBEAT_MS);
    await closed;
    expect((await client.frames.closed).code).toBe(CLOSE_CODES.silent);
    expect(messages).toEqual([]);
  });

  it("[F7] evicts a reader that stalls, says so, and delays nobody else", async () => {
    const { transport, clock, accepted } = await runTransport({
      limits: { queueMaxBytes: 32 * 1024 * 1024 },
    });
    const slow = await connectClient(transport.origin);
    const quick = await connectClient(transport.origin);
    const [stalled, brisk] = accepted;
    if (!stalled || !brisk) throw new Error("Two connections were not accepted");
    slow.frames.ws.pause();
    let isEvicted = false;
    void stalled.closed.then(() => {
      isEvicted = true;
    });
    for (let sent = 0; !isEvicted; sent += 1) {
      expect(sent).toBeLessThan(100);
      stalled.connection.send(large(1024 * 1024));
      brisk.connection.send({ type: "result", id: sent, value: null });
      expect(await quick.next()).toEqual({ type: "result", id: sent, value: null });
    }
    expect(stalled.connection.queuedBytes).toBeLessThan(4 * 1024 * 1024);
    slow.frames.ws.resume();
    let last: unknown;
    for (let isOver = false; !isOver; ) {
      try {
        last = await slow.next();
      } catch {
        isOver = true;
      }
    }
    expect(last).toMatchObject({ type: "evicted" });
    expect((await slow.frames.closed).code).toBe(CLOSE_CODES.evicted);
    await clock.advance(0);
    expect(transport.queuedBytes()).toBe(0);
  });

  it("cuts an evicted reader that never reads again", async () => {
    const { transport, clock, accepted } = await runTransport({
      limits: { queueMaxBytes: 8 * 1024 * 1024 },
    });
    const slow = await connectClient(transport.origin);
    slow.frames.ws.pause();
    const [stalled] = accepted;
    for (let sent = 0; sent < 40; sent += 1) stalled?.connection.send(large(1024 * 1024));
    await stalled?.closed;
    await clock.advance(5_000);
    while (transport.connections() > 0) await clock.advance(0);
    expect(transport.queuedBytes()).toBe(0);
  });

  it("[F7] evicts the largest queue when all together hold too much", async () => {
    const { transport, accepted } = await runTransport({
      limits: { allQueuesMaxBytes: 24 * 1024 * 1024 },
    });
    const clients = [];
    for (let count = 0; count < 3; count += 1) {
      const client = await connectClient(transport.origin);
      client.frames.ws.pause();
      clients.push(client);
    }
    const closed: number[] = [];
    accepted.forEach((entry, index) => {
      void entry.closed.then(() => closed.push(index));
    });
    const queue = (index: number, count: number) => {
      const message = large(1024 * 1024);
      for (let sent = 0; sent < count; sent += 1) accepted[index]?.connection.send(message);
    };
    queue(1, 14);
    queue(0, 2);
    queue(2, 12);
    await accepted[1]?.closed;
    expect(closed).toEqual([1]);
    expect(transport.queuedBytes()).toBeLessThan(18 * 1024 * 1024);
  });

  it("is drained once little is queued, or once it is closed", async () => {
    const { transport, whenAccepted } = await runTransport();
    const client = await connectClient(transport.origin);
    const { connection } = await whenAccepted(0);
    await connection.drained();
    client.frames.ws.pause();
    for (let sent = 0; sent < 20; sent += 1) connection.send(large(1024 * 1024));
    let isDrained = false;
    const drained = connection.drained().then(() => {
      isDrained = true;
    });
    await Promise.resolve();
    expect(isDrained).toBe(false);
    client.frames.ws.resume();
    await drained;
    expect(connection.queuedBytes).toBeLessThan(2 * 1024 * 1024);
    client.frames.ws.terminate();
    await connection.drained();
  });

  it("sends what is queued before it closes", async () => {
    const { transport, whenAccepted } = await runTransport();
    const client = await connectClient(transport.origin);
    const { connection } = await whenAccepted(0);
    for (let sent = 0; sent < 5; sent += 1) connection.send(large(1024 * 1024));
    connection.close();
    connection.send(beat);
    for (let sent = 0; sent < 5; sent += 1) expect(await client.next()).toEqual(large(1024 * 1024));
    await expect(client.next()).rejects.toThrow("closed 1000");
  });

  it("says shuttingDown, sends what is queued, and closes everything", async () => {
    const { transport, whenAccepted } = await runTransport();
    const client = await connectClient(transport.origin);
    const stranger = await openFrames(transport.origin);
    const { connection } = await whenAccepted(0);
    connection.send(large(3 * 1024 * 1024));
    const down = transport.shutDown(5_000);
    expect(await client.next()).toEqual(large(3 * 1024 * 1024));
    expect(await client.next()).toEqual({ type: "shuttingDown" });
    expect((await client.frames.closed).code).toBe(CLOSE_CODES.shuttingDown);
    expect((await stranger.closed).code).toBe(CLOSE_CODES.shuttingDown);
    await down;
    await expect(openFrames(transport.origin)).rejects.toThrow("ECONNREFUSED");
  });

  it("is cut at the end of the grace when the peer does not read", async () => {
    const { transport, clock, whenAccepted } = await runTransport();
    const client = await connectClient(transport.origin);
    client.frames.ws.pause();
    const { connection } = await whenAccepted(0);
    for (let sent = 0; sent < 20; sent += 1) connection.send(large(1024 * 1024));
    const down = transport.shutDown(1_000);
    await clock.advance(1_000);
    await down;
    expect(transport.connections()).toBe(0);
  });
});

describe("listening", () => {
  it("says that a port is taken, or a host is none of this machine's", async () => {
    const other = createServer();
    onTestFinished(() => {
      other.close();
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" && address ? address.port : 0;
    await expect(runTransport({ port })).rejects.toMatchObject({ code: "port_taken" });
    await expect(runTransport({ host: "192.0.2.1" })).rejects.toMatchObject({ code: "bad_host" });
  });

  it("answers to the address it was told to listen on", async () => {
    const { transport } = await runTransport({ host: "127.0.0.2" });
    expect(transport.origin).toBe(`http://127.0.0.2:${transport.port}`);
    expect((await fetch(`${transport.origin}/healthz`)).status).toBe(200);
  });
});

it("pins the close codes", () => {
  expect(CLOSE_CODES).toEqual({
    done: 1000,
    refused: 4001,
    handshakeFailed: 4002,
    handshakeTooSlow: 4003,
    channelFailed: 4004,
    notBinary: 4005,
    silent: 4006,
    evicted: 4007,
    revoked: 4008,
    shuttingDown: 4009,
  });
});
