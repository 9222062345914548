// A daemon for tests of the sync worker: real handshake and codec, rows in memory, and only as much
// behaviour as the protocol asks for. What it was told is there to be looked at.

import type { SessionId } from "../../shared/ids.ts";
import { toBase64Url, toFingerprint } from "../../shared/ids.ts";
import { HEARTBEAT_MS } from "../../shared/limits.ts";
import { awaitClient, type OpenedByClient } from "../../shared/noise/daemon-opening.ts";
import { nobleCrypto } from "../../shared/noise/noble-crypto.ts";
import { type KeyPair, makeKeyPair } from "../../shared/noise/noise-crypto.ts";
import { decode, encode } from "../../shared/protocol/codec.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import {
  type Admission,
  type Identity,
  type Introduction,
  introductionSchema,
} from "../../shared/protocol/handshake.ts";
import type { LiveEvent } from "../../shared/protocol/live-events.ts";
import {
  type ClientMessage,
  clientMessageSchema,
  type DaemonMessage,
} from "../../shared/protocol/messages.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import type { DaemonEnd } from "./linked-network.ts";
import { deviceIdOf, type Unnumbered } from "./rows.ts";

type Call = Extract<ClientMessage, { type: "call" }>;

interface Client {
  readonly send: (message: DaemonMessage) => void;
  readonly close: () => void;
  /** Null before its hello. */
  cursor: number | null;
}

export class FakeDaemon {
  readonly keys: KeyPair;
  readonly rows = new Map<string, Change>();
  readonly heard: ClientMessage[] = [];
  readonly introductions: Introduction[] = [];
  epoch = "epoch-1";
  head = 0;
  rowsPerPage = 512;
  resyncNext = false;
  /** Null: everyone is let in. */
  refusal: Admission | null = null;
  /** Throws a `Failure`, or gives the value; `undefined` is no answer at all. */
  onCall: (call: Call) => unknown = () => ({});
  #clients = new Set<Client>();

  constructor(randomBytes: (length: number) => Uint8Array) {
    this.keys = makeKeyPair(nobleCrypto, randomBytes);
    this.#randomBytes = randomBytes;
  }

  readonly #randomBytes: (length: number) => Uint8Array;

  identity(): Identity {
    return {
      name: "test",
      version: "0",
      protocol: 1,
      publicKey: toBase64Url(this.keys.publicKey),
      fingerprint: toFingerprint(nobleCrypto.hash(this.keys.publicKey)),
    };
  }

  of<T extends ClientMessage["type"]>(type: T): Extract<ClientMessage, { type: T }>[] {
    return this.heard.filter(
      (message): message is Extract<ClientMessage, { type: T }> => message.type === type,
    );
  }

  calls(method: string): Call[] {
    return this.of("call").filter((call) => call.method === method);
  }

  write(...changes: Unnumbered[]): void {
    for (const unnumbered of changes) {
      this.head++;
      const change: Change = { ...unnumbered, rev: this.head };
      if (change.kind === "session" && change.row === null) {
        for (const [key, { sessionId }] of this.rows) {
          if (sessionId === change.sessionId) this.rows.delete(key);
        }
      }
      this.rows.set(`${change.kind} ${change.sessionId} ${change.id}`, change);
    }
    for (const client of this.#clients) this.#pump(client);
  }

  live(sessionId: SessionId, event: LiveEvent): void {
    this.say({ type: "live", sessionId, event });
  }

  say(message: DaemonMessage): void {
    for (const client of this.#clients) if (client.cursor !== null) client.send(message);
  }

  readonly accept = (send: (frame: Uint8Array) => void, close: () => void): DaemonEnd => {
    const opening = awaitClient({
      crypto: nobleCrypto,
      randomBytes: this.#randomBytes,
      staticKeys: this.keys,
    });
    let opened: OpenedByClient | null = null;
    let client: Client | null = null;
    return {
      received: (frame) => {
        try {
          if (opened !== null) {
            const bytes = opened.channel.open(frame);
            if (bytes !== null && client !== null) this.#message(client, decode(bytes));
            return;
          }
          const step = opening.receive(frame);
          if (step.frame !== null) send(step.frame);
          opened = step.opened;
          if (opened === null) return;
          const { channel, introduction } = opened;
          const reply = (message: unknown) => {
            for (const sealed of channel.seal(encode(message))) send(sealed);
          };
          this.introductions.push(introductionSchema.parse(decode(introduction)));
          reply(this.refusal ?? admitted);
          if (this.refusal !== null) return close();
          client = { send: reply, close, cursor: null };
          this.#clients.add(client);
        } catch (error) {
          if (!(error instanceof Error && error.name === "NoiseError")) throw error;
          close();
        }
      },
      closed: () => {
        if (client !== null) this.#clients.delete(client);
      },
    };
  };

  #message(client: Client, value: unknown): void {
    const message = clientMessageSchema.parse(value);
    this.heard.push(message);
    switch (message.type) {
      case "hello": {
        const resync =
          this.resyncNext ||
          message.cursor > this.head ||
          (message.epoch !== null && message.epoch !== this.epoch);
        this.resyncNext = false;
        client.cursor = resync ? 0 : message.cursor;
        client.send({
          type: "welcome",
          epoch: this.epoch,
          head: this.head,
          resync,
          deviceId: deviceIdOf("device"),
          role: "owner",
          daemonName: "test",
          daemonVersion: "0",
          heartbeatMs: HEARTBEAT_MS,
        });
        this.#pump(client);
        return;
      }
      case "call":
        this.#call(client, message);
        return;
      case "ack":
      case "watch":
      case "unwatch":
      case "beat":
        return;
    }
  }

  #call(client: Client, call: Call): void {
    try {
      const value = this.onCall(call);
      if (value !== undefined) client.send({ type: "result", id: call.id, value });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      client.send({ type: "failure", id: call.id, error: error.wire });
    }
  }

  #pump(client: Client): void {
    const { cursor } = client;
    if (cursor === null) return;
    const left = [...this.rows.values()]
      .filter(({ rev }) => rev > cursor)
      .sort((a, b) => a.rev - b.rev);
    const changes = left.slice(0, this.rowsPerPage);
    if (changes.length === 0) return;
    const upto = changes.at(-1)?.rev ?? this.head;
    client.cursor = upto;
    const more = left.length - changes.length;
    client.send({ type: "page", changes, upto, token: `token-${upto}`, more });
    this.#pump(client);
  }
}

const admitted: Admission = {
  outcome: "admitted",
  version: 1,
  deviceId: deviceIdOf("device"),
  role: "owner",
};
