// A client for tests: a real WebSocket with a real handshake, whose messages are awaited one by one.

import { randomBytes } from "node:crypto";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { startIK, startXX } from "../../shared/noise/client-opening.ts";
import { type KeyPair, makeKeyPair } from "../../shared/noise/noise-crypto.ts";
import type { SecureChannel } from "../../shared/noise/secure-channel.ts";
import { decode, encode } from "../../shared/protocol/codec.ts";
import {
  type Admission,
  admissionSchema,
  type Introduction,
} from "../../shared/protocol/handshake.ts";
import { PROTOCOL_VERSION, SUBPROTOCOL } from "../../shared/protocol/version.ts";
import { nodeCrypto } from "../transport/node-crypto.ts";

export const makeKeys = (): KeyPair => makeKeyPair(nodeCrypto, randomBytes);

/** Frames in the order they came; `next` waits for one and rejects once the socket has closed. */
export interface Frames {
  readonly ws: WebSocket;
  next(): Promise<Uint8Array>;
  /** The close code, once it is closed. */
  readonly closed: Promise<{ code: number; reason: string }>;
}

export interface SocketOptions {
  readonly origin?: string | null;
  readonly headers?: Record<string, string>;
  readonly protocols?: string[];
  readonly path?: string;
}

/** Rejects with the status of a refused upgrade as its message. */
export async function openFrames(origin: string, options: SocketOptions = {}): Promise<Frames> {
  const url = `${origin.replace("http", "ws")}${options.path ?? "/ws"}`;
  const from = options.origin === undefined ? origin : options.origin;
  const ws = new WebSocket(url, options.protocols ?? [SUBPROTOCOL], {
    headers: options.headers,
    perMessageDeflate: false,
    ...(from !== null && { origin: from }),
  });
  onTestFinished(() => ws.terminate());
  const arrived: Uint8Array[] = [];
  const waiting: { resolve(frame: Uint8Array): void; reject(error: Error): void }[] = [];
  let end: Error | null = null;
  ws.on("message", (frame: Uint8Array) => {
    const waiter = waiting.shift();
    if (waiter) waiter.resolve(frame);
    else arrived.push(frame);
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on("close", (code, reason) => {
      end = new Error(`closed ${code}`);
      for (const waiter of waiting) waiter.reject(end);
      resolve({ code, reason: String(reason) });
    });
  });
  await new Promise<void>((resolve, reject) => {
    ws.once("open", resolve);
    ws.on("error", reject);
    ws.once("unexpected-response", (_request, response) => {
      reject(new Error(`refused ${response.statusCode}`));
      ws.terminate();
    });
  });
  return {
    ws,
    closed,
    next: () =>
      new Promise((resolve, reject) => {
        const frame = arrived.shift();
        if (frame) resolve(frame);
        else if (end) reject(end);
        else waiting.push({ resolve, reject });
      }),
  };
}

export interface Handshake extends SocketOptions {
  readonly keys?: KeyPair;
  /** Set: IK, pinned to this key. Else XX. */
  readonly daemonKey?: Uint8Array;
  readonly introduction?: Partial<Introduction>;
}

export interface SocketClient {
  readonly frames: Frames;
  readonly channel: SecureChannel;
  readonly admission: Admission;
  send(message: unknown): void;
  /** The next message, decoded. */
  next(): Promise<unknown>;
}

export async function connectClient(
  origin: string,
  handshake: Handshake = {},
): Promise<SocketClient> {
  const frames = await openFrames(origin, handshake);
  const introduction = encode({
    versions: [PROTOCOL_VERSION],
    appVersion: "0.0.0",
    deviceName: "A test",
    enrolment: null,
    ...handshake.introduction,
  });
  const options = { crypto: nodeCrypto, randomBytes, staticKeys: handshake.keys ?? makeKeys() };
  const channel = await shakeHands(frames, options, handshake.daemonKey ?? null, introduction);
  const next = async () => {
    for (;;) {
      const message = channel.open(await frames.next());
      if (message) return decode(message);
    }
  };
  return {
    frames,
    channel,
    admission: admissionSchema.parse(await next()),
    next,
    send(message) {
      for (const frame of channel.seal(encode(message))) frames.ws.send(frame);
    },
  };
}

async function shakeHands(
  frames: Frames,
  options: Parameters<typeof startXX>[0],
  daemonKey: Uint8Array | null,
  introduction: Uint8Array,
): Promise<SecureChannel> {
  if (daemonKey) {
    const opening = startIK(options, daemonKey, introduction);
    frames.ws.send(opening.frame);
    return opening.receive(await frames.next());
  }
  const opening = startXX(options);
  frames.ws.send(opening.frame);
  const { frame, channel } = opening.receive(await frames.next()).introduce(introduction);
  frames.ws.send(frame);
  return channel;
}
