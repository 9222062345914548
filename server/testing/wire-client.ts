// A client for programs that try the daemon hard: a real WebSocket with a real handshake, whose messages
// are handed on as they come. What they mean is the affair of whoever listens.

import { createHash, randomBytes } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { WebSocket } from "ws";
import { fromBase64Url, toBase64Url } from "../../shared/ids.ts";
import { type ClientIK, startIK } from "../../shared/noise/client-opening.ts";
import { type KeyPair, makeKeyPair } from "../../shared/noise/noise-crypto.ts";
import type { SecureChannel } from "../../shared/noise/secure-channel.ts";
import { decode, encode } from "../../shared/protocol/codec.ts";
import {
  type Admission,
  admissionSchema,
  type Introduction,
  identitySchema,
} from "../../shared/protocol/handshake.ts";
import { type ClientMessage, daemonMessageSchema } from "../../shared/protocol/messages.ts";
import { PROTOCOL_VERSION, SUBPROTOCOL } from "../../shared/protocol/version.ts";
import { nodeCrypto } from "../transport/node-crypto.ts";

export interface WireOptions {
  readonly origin: string;
  /** The daemon's, from `/identity`. */
  readonly daemonKey: Uint8Array;
  readonly keys: KeyPair;
  readonly deviceName: string;
  readonly enrolment: Introduction["enrolment"];
  /** Called in order with what was decoded and unpacked; an error that it throws ends the connection. */
  readonly hear: (message: unknown) => void;
}

export interface Wire {
  readonly admission: Extract<Admission, { outcome: "admitted" }>;
  send(message: ClientMessage): void;
  /** Reads nothing more from the socket: a stalled reader. */
  pause(): void;
  /** Without a goodbye. */
  cut(): void;
  /** Resolves once the socket is closed: with what went wrong on this side, else null. */
  readonly ended: Promise<unknown>;
}

export const makeDeviceKeys = (): KeyPair => makeKeyPair(nodeCrypto, randomBytes);

/** 128 random bits. */
export const freshId = (): string => toBase64Url(randomBytes(16));

export const sha256Hex = (bytes: Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex");

export async function fetchDaemonKey(origin: string): Promise<Uint8Array> {
  const response = await fetch(`${origin}/identity`);
  const key = fromBase64Url(identitySchema.parse(await response.json()).publicKey);
  if (key === null) throw new Error("The daemon's key is no base64url");
  return key;
}

/** Rejects if the daemon is not there, hangs up in the handshake or refuses the device. */
export function openWire(options: WireOptions): Promise<Wire> {
  return new Promise((resolve, reject) => new OpeningWire(options, resolve, reject));
}

class OpeningWire {
  readonly #options: WireOptions;
  readonly #socket: WebSocket;
  readonly #opening: ClientIK;
  readonly #admitted: (wire: Wire) => void;
  readonly #failed: (error: unknown) => void;
  readonly #ended: Promise<unknown>;
  #channel: SecureChannel | null = null;
  #isAdmitted = false;
  #wrong: unknown = null;

  constructor(
    options: WireOptions,
    admitted: (wire: Wire) => void,
    failed: (error: unknown) => void,
  ) {
    const { origin, daemonKey, keys, deviceName, enrolment } = options;
    this.#options = options;
    this.#admitted = admitted;
    this.#failed = failed;
    const introduction = {
      versions: [PROTOCOL_VERSION],
      appVersion: "0.0.0",
      deviceName,
      enrolment,
    };
    const around = { crypto: nodeCrypto, randomBytes, staticKeys: keys };
    this.#opening = startIK(around, daemonKey, encode(introduction));
    const url = `${origin.replace("http", "ws")}/ws`;
    this.#socket = new WebSocket(url, [SUBPROTOCOL], { origin, perMessageDeflate: false });
    this.#socket.on("open", () => this.#socket.send(this.#opening.frame));
    this.#socket.on("message", (frame: Uint8Array) => this.#received(frame));
    this.#socket.on("error", (error) => failed(error));
    this.#ended = new Promise((resolve) => {
      this.#socket.on("close", (code) => {
        failed(this.#wrong ?? new Error(`The socket closed with ${code} before an admission`));
        resolve(this.#wrong);
      });
    });
  }

  #received(frame: Uint8Array): void {
    if (this.#wrong !== null) return;
    try {
      if (this.#channel === null) {
        this.#channel = this.#opening.receive(frame);
        return;
      }
      const message = this.#channel.open(frame);
      if (message === null) return;
      if (this.#isAdmitted) this.#options.hear(unpack(decode(message)));
      else this.#admit(decode(message));
    } catch (error) {
      this.#wrong = error;
      this.#failed(error);
      this.#socket.terminate();
    }
  }

  #admit(message: unknown): void {
    const admission = admissionSchema.parse(message);
    if (admission.outcome === "refused") throw new Error(admission.error.message);
    this.#isAdmitted = true;
    this.#admitted({
      admission,
      send: (sent) => this.#send(sent),
      pause: () => this.#socket.pause(),
      cut: () => {
        this.#socket.terminate();
        // A paused one would never say that it is closed.
        this.#socket.resume();
      },
      ended: this.#ended,
    });
  }

  #send(message: ClientMessage): void {
    if (this.#channel === null || this.#socket.readyState !== WebSocket.OPEN) return;
    for (const frame of this.#channel.seal(encode(message))) this.#socket.send(frame);
  }
}

function unpack(message: unknown): unknown {
  if (typeof message !== "object" || message === null || !("type" in message)) return message;
  if (message.type !== "packed") return message;
  const packed = daemonMessageSchema.parse(message);
  if (packed.type !== "packed") return packed;
  const inner = inflateRawSync(packed.bytes, { maxOutputLength: packed.size });
  if (inner.length !== packed.size) throw new Error("A packed message is not of its size");
  return decode(inner);
}
