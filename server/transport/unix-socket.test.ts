import { spawn } from "node:child_process";
import { mkdir, stat, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { MESSAGE_MAX_BYTES } from "../../shared/limits.ts";
import { encode } from "../../shared/protocol/codec.ts";
import { runTransport } from "../testing/running-transport.ts";
import { makeTemporaryFolder } from "../testing/temporary-store.ts";
import type { AcceptConnection } from "./connection.ts";
import { PrefixReader, prefixLength } from "./length-prefix.ts";
import { connectUnixClient } from "./unix-client.ts";

const STATUS = { version: "1.2.3", pid: 7, origin: "http://127.0.0.1:4780", connections: 1 };

/** Answers daemon.status, refuses daemon.link, and leaves everything else unanswered. */
const answering: AcceptConnection = (connection) => ({
  message(message) {
    const { id, method } = Object(message);
    if (method === "daemon.status") connection.send({ type: "result", id, value: STATUS });
    if (method !== "daemon.link") return;
    const error = { code: "shutting_down", message: "Stopping.", retryable: true } as const;
    connection.send({ type: "failure", id, error });
  },
  undecodable: () => connection.close(),
  closed: () => {},
});

async function setUp(accept: AcceptConnection = answering) {
  const path = join(await makeTemporaryFolder(), "run", "troupe.sock");
  const running = await runTransport({ unixSocketPath: path, accept });
  const { clock } = running;
  const client = await connectUnixClient({ path, clock, timeoutMs: 1_000 });
  onTestFinished(() => client.close());
  return { path, client, ...running };
}

function open(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => resolve(socket));
    socket.on("error", reject);
    onTestFinished(() => {
      socket.destroy();
    });
  });
}

const whenClosed = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.resume();
    socket.on("close", () => resolve());
  });

describe("Unix socket", () => {
  it("[N5] is the user's alone", async () => {
    const { path } = await setUp();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, ".."))).mode & 0o777).toBe(0o700);
  });

  it("[N5] answers calls with their result, or the daemon's failure", async () => {
    const { client, transport } = await setUp();
    const [first, second] = [client.call("daemon.status", {}), client.call("daemon.status", {})];
    expect(await first).toEqual(STATUS);
    expect(await second).toEqual(STATUS);
    await expect(client.call("daemon.link", {})).rejects.toMatchObject({
      wire: { code: "shutting_down", retryable: true },
    });
    expect(transport.connections()).toBe(1);
  });

  it("gives up on a call that is not answered in time", async () => {
    const { client, clock } = await setUp();
    const call = expect(client.call("model.list", {})).rejects.toMatchObject({ code: "timed_out" });
    await clock.advance(1_000);
    await call;
    expect(await client.call("daemon.status", {})).toEqual(STATUS);
  });

  it("refuses an answer of the wrong shape", async () => {
    const { client } = await setUp((connection) => ({
      message: (message) =>
        connection.send({ type: "result", id: Object(message).id, value: { pid: "x" } }),
      undecodable: () => {},
      closed: () => {},
    }));
    await expect(client.call("daemon.status", {})).rejects.toMatchObject({ code: "closed" });
  });

  it("ends the calls under way when the daemon goes", async () => {
    const { client, transport } = await setUp();
    const call = expect(client.call("model.list", {})).rejects.toMatchObject({ code: "closed" });
    await transport.shutDown(1_000);
    await call;
    await expect(client.call("daemon.status", {})).rejects.toMatchObject({ code: "closed" });
  });

  it("[N5] closes only the connection that announces too much or sends no MessagePack", async () => {
    const { client, path } = await setUp();
    const huge = await open(path);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(MESSAGE_MAX_BYTES + 1);
    huge.write(length);
    await whenClosed(huge);
    const garbage = await open(path);
    garbage.write(Buffer.concat([prefixLength(Uint8Array.of(0xc1)), Uint8Array.of(0xc1)]));
    await whenClosed(garbage);
    expect(await client.call("daemon.status", {})).toEqual(STATUS);
  });

  it("removes its file when it goes, and says that nobody answers then", async () => {
    const { path, transport, clock } = await setUp();
    await transport.shutDown(1_000);
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
    const connecting = connectUnixClient({ path, clock, timeoutMs: 1_000 });
    await expect(connecting).rejects.toMatchObject({ code: "socket_unusable" });
  });

  it("leaves a daemon alone that answers, and says so", async () => {
    const { path, client } = await setUp();
    const starting = runTransport({ unixSocketPath: path });
    await expect(starting).rejects.toMatchObject({ code: "socket_taken" });
    expect(await client.call("daemon.status", {})).toEqual(STATUS);
  });

  it("replaces the file that a killed daemon left", async () => {
    const folder = await makeTemporaryFolder();
    const path = join(folder, "troupe.sock");
    await leaveStaleSocket(path);
    const { clock } = await runTransport({ unixSocketPath: path, accept: answering });
    const client = await connectUnixClient({ path, clock, timeoutMs: 1_000 });
    expect(await client.call("daemon.status", {})).toEqual(STATUS);
    client.close();
  });

  it("touches no file that is no socket", async () => {
    const folder = await makeTemporaryFolder();
    const path = join(folder, "troupe.sock");
    await writeFile(path, "precious");
    await mkdir(join(folder, "folder"));
    for (const unusable of [path, join(folder, "folder"), join(path, "below")]) {
      await expect(runTransport({ unixSocketPath: unusable })).rejects.toMatchObject({
        code: "socket_unusable",
      });
    }
    expect((await stat(path)).size).toBe("precious".length);
  });
});

/** Listening in a process that is killed is the one way to leave a socket's file behind. */
async function leaveStaleSocket(path: string): Promise<void> {
  const script = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => console.log("up"))`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  expect((await stat(path)).isSocket()).toBe(true);
}

describe("PrefixReader", () => {
  it("[N5] puts messages together however they were cut", () => {
    const messages = ["a", "", "b".repeat(1_000), { c: 1 }].map((value) => encode(value));
    const stream = Buffer.concat(messages.flatMap((bytes) => [prefixLength(bytes), bytes]));
    for (const size of [1, 2, 3, 5, 7, 100, stream.length]) {
      const reader = new PrefixReader();
      const read: Uint8Array[] = [];
      for (let at = 0; at < stream.length; at += size) {
        read.push(...reader.push(stream.subarray(at, at + size)));
      }
      expect(read.map((bytes) => new Uint8Array(bytes))).toEqual(messages);
    }
  });
});
