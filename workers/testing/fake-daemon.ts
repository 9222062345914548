// A daemon for tests of the sync worker: real handshake and codec, rows in memory, and only as much
// behaviour as the protocol asks for. What it was told is there to be looked at.

import { deflateRawSync } from "node:zlib";
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
  type Scope,
} from "../../shared/protocol/messages.ts";
import { type Change, isBodyKind } from "../../shared/protocol/rows.ts";
import type { DaemonEnd } from "./linked-network.ts";
import { deviceIdOf, type Unnumbered } from "./rows.ts";

type Call = Extract<ClientMessage, { type: "call" }>;

interface Client {
  readonly send: (message: DaemonMessage) => void;
  readonly close: () => void;
  /** Null before its hello; then the last page's `upto`. */
  cursor: number | null;
  packs: boolean;
  readonly leftOut: Set<SessionId>;
  /** How far the fills under way are. */
  readonly fills: Map<SessionId, { until: number; after: number | null }>;
}

const DAY_MS = 24 * 60 * 60_000;

export class FakeDaemon {
  readonly keys: KeyPair;
  readonly rows = new Map<string, Change>();
  readonly heard: ClientMessage[] = [];
  readonly introductions: Introduction[] = [];
  epoch = "epoch-1";
  head = 0;
  rowsPerPage = 512;
  resyncNext = false;
  /** What its clock says. */
  now = 0;
  /** True: pages and fills are packed, whatever their size. */
  packs = false;
  /** True: fills go on with `fillOn` only. */
  holdsFills = false;
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

  /** Sends one more part of each fill under way. */
  fillOn(): void {
    for (const client of this.#clients) {
      for (const sessionId of [...client.fills.keys()]) this.#fillPart(client, sessionId);
    }
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
          client = {
            send: reply,
            close,
            cursor: null,
            packs: false,
            leftOut: new Set(),
            fills: new Map(),
          };
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
        client.packs = this.packs && message.packings.includes("deflate-raw");
        for (const sessionId of this.#outOf(message.scope)) client.leftOut.add(sessionId);
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
          now: this.now,
          leftOut: [...client.leftOut],
        });
        this.#pump(client);
        return;
      }
      case "call":
        this.#call(client, message);
        return;
      case "keep":
        client.leftOut.delete(message.sessionId);
        client.fills.set(message.sessionId, { until: client.cursor ?? 0, after: null });
        while (!this.holdsFills && client.fills.has(message.sessionId)) {
          this.#fillPart(client, message.sessionId);
        }
        return;
      case "leave":
        client.leftOut.add(message.sessionId);
        client.fills.delete(message.sessionId);
        this.#sayLeftOut(client, message.sessionId);
        return;
      case "ack":
      case "look":
      case "watch":
      case "unwatch":
      case "beat":
        return;
    }
  }

  #outOf({ days, except }: Scope): SessionId[] {
    const since = days === null ? 0 : this.now - days * DAY_MS;
    return [...this.rows.values()].flatMap(({ kind, sessionId, row }) => {
      if (kind !== "session" || row === null) return [];
      const isOld = !row.pinned && row.modifiedAt < since;
      return isOld || except.includes(sessionId) ? [sessionId] : [];
    });
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
    const { cursor, leftOut } = client;
    if (cursor === null) return;
    const left = this.#inOrder(
      ({ kind, sessionId, rev }) =>
        rev > cursor && !(sessionId !== null && leftOut.has(sessionId) && isBodyKind(kind)),
    );
    const changes = left.slice(0, this.rowsPerPage);
    if (changes.length === 0) return;
    const isLast = changes.length === left.length;
    const upto = isLast ? this.head : (changes.at(-1)?.rev ?? this.head);
    client.cursor = upto;
    const page = { type: "page", changes, upto, token: `token-${upto}` } as const;
    this.#send(client, { ...page, more: this.head - upto, leftOut: [] });
    this.#pump(client);
  }

  #sayLeftOut(client: Client, sessionId: SessionId): void {
    const { cursor } = client;
    if (cursor === null) return;
    const place = { upto: cursor, token: `token-${cursor}`, more: this.head - cursor };
    this.#send(client, { type: "page", changes: [], ...place, leftOut: [sessionId] });
  }

  /** Rows that changed after the first part come in pages. */
  #fillPart(client: Client, sessionId: SessionId): void {
    const filling = client.fills.get(sessionId);
    if (filling === undefined || client.cursor === null) return;
    const isFirst = filling.after === null;
    if (isFirst) filling.until = client.cursor;
    const { until, after } = filling;
    const left = this.#inOrder(
      ({ kind, sessionId: of, rev, row }) =>
        of === sessionId && isBodyKind(kind) && row !== null && rev > (after ?? 0) && rev <= until,
    );
    const changes = left.slice(0, this.rowsPerPage);
    const isLast = changes.length === left.length;
    filling.after = changes.at(-1)?.rev ?? until;
    if (isLast) client.fills.delete(sessionId);
    const { cursor } = client;
    this.#send(client, { type: "fill", sessionId, changes, cursor, isFirst, isLast });
  }

  #inOrder(isWanted: (change: Change) => boolean): Change[] {
    return [...this.rows.values()].filter(isWanted).sort((a, b) => a.rev - b.rev);
  }

  #send(client: Client, message: DaemonMessage): void {
    if (!client.packs) {
      client.send(message);
      return;
    }
    const bytes = encode(message);
    const packed = new Uint8Array(deflateRawSync(bytes));
    client.send({ type: "packed", packing: "deflate-raw", size: bytes.length, bytes: packed });
  }
}

const admitted: Admission = {
  outcome: "admitted",
  version: 1,
  deviceId: deviceIdOf("device"),
  role: "owner",
};
