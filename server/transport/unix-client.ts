// How the command line asks a running daemon, over its Unix socket.

import { connect, type Socket } from "node:net";
import * as z from "zod/mini";
import { decode, encode } from "../../shared/protocol/codec.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import { type ClientMessage, daemonMessageSchema } from "../../shared/protocol/messages.ts";
import { type Method, methods, type Params, type Result } from "../../shared/protocol/methods.ts";
import type { Clock } from "../clock.ts";
import { PrefixReader, prefixLength } from "./length-prefix.ts";
import { TransportError } from "./transport-error.ts";

export interface UnixClient {
  /**
   * Rejects with the daemon's `Failure`, or with `TransportError` timed_out or closed. Queries only:
   * a command needs a commandId that outlives this process.
   */
  call<M extends Method>(method: M, params: Params<M>): Promise<Result<M>>;
  close(): void;
}

export interface UnixClientOptions {
  readonly path: string;
  readonly clock: Clock;
  /** For connecting, and for each call. */
  readonly timeoutMs: number;
}

interface Pending {
  readonly method: Method;
  settle(outcome: { value: unknown } | { error: Error }): void;
}

/** Rejects with `TransportError` socket_unusable if nobody listens there. */
export async function connectUnixClient(options: UnixClientOptions): Promise<UnixClient> {
  const { clock, timeoutMs } = options;
  const socket = await openSocket(options);
  const pendingById = hearAnswers(socket);
  let lastId = 0;

  const call = (method: Method, params: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (socket.destroyed) {
        reject(new TransportError("closed", "The daemon closed the socket."));
        return;
      }
      lastId += 1;
      const id = lastId;
      const settle: Pending["settle"] = (outcome) => {
        stop();
        pendingById.delete(id);
        if ("error" in outcome) reject(outcome.error);
        else resolve(outcome.value);
      };
      const late = `The daemon did not answer ${method} within ${timeoutMs} ms.`;
      const stop = clock.after(timeoutMs, () =>
        settle({ error: new TransportError("timed_out", late) }),
      );
      pendingById.set(id, { method, settle });
      const message: ClientMessage = { type: "call", id, commandId: null, method, params };
      const bytes = encode(message);
      socket.write(Buffer.concat([prefixLength(bytes), bytes]));
    });

  return {
    async call<M extends Method>(method: M, params: Params<M>) {
      // Checked against the method's own schema when it came in.
      return (await call(method, params)) as Result<M>;
    },
    close: () => socket.destroy(),
  };
}

/** The calls under way, each settled by its answer, or all by the end of the socket. */
function hearAnswers(socket: Socket): Map<number, Pending> {
  const pendingById = new Map<number, Pending>();
  const reader = new PrefixReader();
  const failAll = (message: string, cause?: unknown) => {
    const error = new TransportError("closed", message, cause);
    for (const pending of pendingById.values()) pending.settle({ error });
  };
  socket.on("data", (chunk: Buffer) => {
    try {
      for (const bytes of reader.push(chunk)) answer(pendingById, bytes);
    } catch (error) {
      failAll("The daemon's answer makes no sense.", error);
      socket.destroy();
    }
  });
  socket.on("error", (error) => failAll("The socket failed.", error));
  socket.on("close", () => failAll("The daemon closed the socket."));
  return pendingById;
}

function answer(pendingById: ReadonlyMap<number, Pending>, bytes: Uint8Array): void {
  const message = daemonMessageSchema.parse(decode(bytes));
  if (message.type === "result") {
    const pending = pendingById.get(message.id);
    if (pending === undefined) return;
    const value = z.safeParse(methods[pending.method].result, message.value);
    pending.settle(
      value.success
        ? { value: value.data }
        : { error: new TransportError("closed", `The daemon answered ${pending.method} oddly.`) },
    );
  } else if (message.type === "failure" && message.id !== null) {
    const { code, message: text, retryable, details } = message.error;
    const error = new Failure(code, text, { retryable, ...(details && { details }) });
    pendingById.get(message.id)?.settle({ error });
  }
}

function openSocket({ path, clock, timeoutMs }: UnixClientOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const fail = (code: "timed_out" | "socket_unusable", cause?: unknown) => {
      stop();
      socket.destroy();
      reject(new TransportError(code, `No daemon answers on ${path}.`, cause));
    };
    const stop = clock.after(timeoutMs, () => fail("timed_out"));
    const failed = (error: Error) => fail("socket_unusable", error);
    socket.once("error", failed);
    socket.once("connect", () => {
      stop();
      socket.off("error", failed);
      resolve(socket);
    });
  });
}
