// The local command line's way in. The operating system says who it is: the socket and its folder
// are the user's alone, so there is no Noise and no admission.

import { chmodSync } from "node:fs";
import { lstat, mkdir, rm } from "node:fs/promises";
import { connect as connectSocket, createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { type Log, traceOf } from "../log.ts";
import type { Peer } from "./connection.ts";
import { PrefixReader, prefixLength } from "./length-prefix.ts";
import type { QueuedConnection } from "./queued-connection.ts";
import { systemCode, TransportError } from "./transport-error.ts";
import type { Wire } from "./wire.ts";

const LOCAL_CONNECTIONS_MAX = 32;

export interface UnixSocketOptions {
  readonly path: string;
  readonly connect: (peer: Peer, wire: Wire) => QueuedConnection;
  readonly log: Log;
}

export interface UnixSocket {
  /** Lets no one else in and removes the socket's file; open connections are not touched. */
  close(): void;
}

/** Throws `TransportError` socket_taken or socket_unusable. */
export async function listenUnixSocket(options: UnixSocketOptions): Promise<UnixSocket> {
  const { path } = options;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await clearTheWay(path);
    const server = createServer((socket) => serve(socket, options));
    server.maxConnections = LOCAL_CONNECTIONS_MAX;
    await listenPrivately(server, path);
    // At once: nobody is to be answered before whoever started this has it in hand.
    chmodSync(path, 0o600);
    server.on("error", (error) => options.log.error({ error: error.name }, "Unix socket failed"));
    // Node removes the file.
    return { close: () => server.close() };
  } catch (error) {
    if (error instanceof TransportError) throw error;
    throw new TransportError("socket_unusable", `Cannot listen on ${path}.`, error);
  }
}

/** Removes the socket file of a daemon that was killed; anything else that is there stays. */
async function clearTheWay(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  });
  if (found === null) return;
  if (!found.isSocket()) {
    throw new TransportError("socket_unusable", `${path} is in the way and is no socket.`);
  }
  if (await somebodyAnswers(path)) {
    throw new TransportError("socket_taken", `Another daemon answers on ${path}.`);
  }
  await rm(path);
}

function somebodyAnswers(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error) => {
      if (systemCode(error) === "ECONNREFUSED") resolve(false);
      else reject(error);
    });
  });
}

/** The umask closes the moment between the file's making and its chmod. */
function listenPrivately(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const before = process.umask(0o177);
    try {
      server.once("error", reject);
      server.listen(path, () => {
        server.off("error", reject);
        resolve();
      });
    } finally {
      process.umask(before);
    }
  });
}

function serve(socket: Socket, { connect, log }: UnixSocketOptions): void {
  // The close event follows.
  socket.on("error", (error) => log.debug({ error: error.name }, "A local connection failed"));
  const reader = new PrefixReader();
  const connection = connect({ kind: "local" }, wireOf(socket));
  socket.on("data", (chunk: Buffer) => {
    try {
      for (const message of reader.push(chunk)) connection.receive(message);
    } catch (error) {
      log.warn({ trace: traceOf(error) }, "Closed a local connection that broke the rules");
      socket.destroy();
    }
  });
  socket.on("close", () => connection.ended());
}

function wireOf(socket: Socket): Wire {
  return {
    write(message, taken) {
      socket.cork();
      socket.write(prefixLength(message));
      socket.write(message, () => taken());
      socket.uncork();
    },
    close: () => socket.end(),
    destroy: () => socket.destroy(),
  };
}
