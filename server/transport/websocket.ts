// The WebSocket way in: a Noise handshake within its deadline, an admission, then a connection. What
// goes wrong with one socket closes that socket and nothing else.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { assertNever } from "../../shared/assert-never.ts";
import { HANDSHAKE_TIMEOUT_MS, NOISE_MESSAGE_MAX_BYTES } from "../../shared/limits.ts";
import {
  awaitClient,
  type DaemonOpening,
  type OpenedByClient,
} from "../../shared/noise/daemon-opening.ts";
import type { KeyPair, RandomBytes } from "../../shared/noise/noise-crypto.ts";
import { NoiseError } from "../../shared/noise/noise-error.ts";
import type { SecureChannel } from "../../shared/noise/secure-channel.ts";
import { CLOSE_CODES, type CloseReason } from "../../shared/protocol/close-codes.ts";
import { encode } from "../../shared/protocol/codec.ts";
import { SUBPROTOCOL } from "../../shared/protocol/version.ts";
import type { Clock } from "../clock.ts";
import { type Log, traceOf } from "../log.ts";
import type { Admissions, Role } from "./admissions.ts";
import type { Peer } from "./connection.ts";
import { nodeCrypto } from "./node-crypto.ts";
import type { QueuedConnection } from "./queued-connection.ts";
import type { Wire } from "./wire.ts";

/** Frames a client may send before it has read its admission. */
const EARLY_FRAMES_MAX = 16;
const CLOSE_MAX_MS = 5_000;

export interface WebSocketsOptions {
  readonly staticKeys: KeyPair;
  readonly randomBytes: RandomBytes;
  readonly admissions: Admissions;
  /** Sockets that have not been admitted yet: as many as may come back at once after a restart. */
  readonly strangersMax: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes the connection of an admitted peer and hands it to those above. */
  readonly connect: (peer: Peer, wire: Wire) => QueuedConnection;
}

type State =
  | { kind: "opening"; opening: DaemonOpening }
  | { kind: "deciding"; early: Uint8Array[] }
  | { kind: "connected"; channel: SecureChannel; connection: QueuedConnection }
  | { kind: "closed" };

export class WebSockets {
  readonly #options: WebSocketsOptions;
  readonly #sockets = new Set<Socket>();
  readonly #server = new WebSocketServer({
    noServer: true,
    // The first frame has a byte more than a Noise message: the mode.
    maxPayload: NOISE_MESSAGE_MAX_BYTES + 1,
    perMessageDeflate: false,
    clientTracking: false,
    handleProtocols: () => SUBPROTOCOL,
  });

  /** `refuse` answers a request that is no WebSocket handshake. */
  constructor(options: WebSocketsOptions, refuse: (socket: Duplex) => void) {
    this.#options = options;
    this.#server.on("wsClientError", (_error, socket) => refuse(socket));
  }

  /**
   * For one stranger more, if need be at the cost of the one that has been opening for longest: a
   * handshake takes a moment, so whoever fills all places by dawdling shuts nobody out. False: all are
   * being decided on.
   */
  makeRoom(): boolean {
    const strangers = [...this.#sockets].filter((socket) => socket.isStranger);
    if (strangers.length < this.#options.strangersMax) return true;
    const dawdler = strangers.find((socket) => socket.isOpening);
    dawdler?.close("handshakeTooSlow");
    return dawdler !== undefined;
  }

  /** The request has passed the gate and asks for the subprotocol. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      const made = new Socket(ws, this.#options, () => this.#sockets.delete(made));
      this.#sockets.add(made);
      socket.on("data", () => made.heard());
    });
  }

  /** Closes every socket that is not admitted yet. */
  closeStrangers(): void {
    for (const socket of this.#sockets) if (socket.isStranger) socket.close("shuttingDown");
  }

  destroyAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** A socket from its first byte to its last; a stranger until it is admitted. */
class Socket {
  readonly #ws: WebSocket;
  readonly #options: WebSocketsOptions;
  readonly #gone: () => void;
  readonly #stopDeadline: () => void;
  #state: State;
  /** Set once admitted; outlives the state, to be told when the socket is gone. */
  #connection: QueuedConnection | null = null;
  /** The role under which it holds a place among the admitted. */
  #placeOf: Role | null = null;

  constructor(ws: WebSocket, options: WebSocketsOptions, gone: () => void) {
    this.#ws = ws;
    this.#options = options;
    this.#gone = gone;
    const { staticKeys, randomBytes, clock } = options;
    this.#state = {
      kind: "opening",
      opening: awaitClient({ crypto: nodeCrypto, randomBytes, staticKeys }),
    };
    this.#stopDeadline = clock.after(HANDSHAKE_TIMEOUT_MS, () => this.close("handshakeTooSlow"));
    ws.on("message", (payload, isBinary) => {
      if (isBinary && payload instanceof Uint8Array) this.#frame(payload);
      else this.close("notBinary");
    });
    ws.on("close", () => this.#closed());
    // ws closes the socket itself after an error; the close event follows.
    ws.on("error", (error) => options.log.debug({ error: error.name }, "A WebSocket failed"));
  }

  get isStranger(): boolean {
    return this.#placeOf === null;
  }

  get isOpening(): boolean {
    return this.#state.kind === "opening";
  }

  /** Bytes count, not messages: a large one may take its time (L2). */
  heard(): void {
    this.#connection?.heard();
  }

  destroy(): void {
    this.#ws.terminate();
  }

  close(reason: CloseReason): void {
    if (this.#state.kind === "closed") return;
    const { log, clock } = this.#options;
    log.debug({ reason }, "Closing a WebSocket");
    this.#state = { kind: "closed" };
    this.#stopDeadline();
    this.#ws.close(CLOSE_CODES[reason], reason);
    const stop = clock.after(CLOSE_MAX_MS, () => this.#ws.terminate());
    this.#ws.once("close", stop);
  }

  #frame(frame: Uint8Array): void {
    const state = this.#state;
    switch (state.kind) {
      case "opening":
        this.#handshake(state.opening, frame);
        return;
      case "deciding":
        if (state.early.length >= EARLY_FRAMES_MAX) this.close("handshakeFailed");
        else state.early.push(frame);
        return;
      case "connected":
        this.#message(state, frame);
        return;
      case "closed":
        return;
      default:
        assertNever(state);
    }
  }

  #handshake(opening: DaemonOpening, frame: Uint8Array): void {
    try {
      const { frame: answer, opened } = opening.receive(frame);
      if (answer) this.#ws.send(answer);
      if (opened) {
        this.#decide(opened).catch((error) => this.#fail(error, "handshakeFailed"));
      }
    } catch (error) {
      this.#fail(error, "handshakeFailed");
    }
  }

  async #decide({ channel, clientKey, introduction }: OpenedByClient): Promise<void> {
    const { admissions, connect } = this.#options;
    const early: Uint8Array[] = [];
    this.#stopDeadline();
    this.#state = { kind: "deciding", early };
    const admission = await admissions.decide(clientKey, introduction);
    // Closed meanwhile: `closed` is the only other state that follows `deciding`.
    if (this.#isClosed()) {
      if (admission.outcome === "admitted") admissions.leave(admission.role);
      return;
    }
    for (const frame of channel.seal(encode(admission))) this.#ws.send(frame);
    if (admission.outcome === "refused") {
      this.close("refused");
      return;
    }
    const { deviceId, role } = admission;
    this.#placeOf = role;
    const connection = connect({ kind: "device", deviceId, role }, this.#wire(channel));
    this.#connection = connection;
    // Those above may have closed it at once.
    if (this.#isClosed()) return;
    this.#state = { kind: "connected", channel, connection };
    for (const frame of early) this.#frame(frame);
  }

  #message(state: State & { kind: "connected" }, frame: Uint8Array): void {
    let message: Uint8Array | null;
    try {
      message = state.channel.open(frame);
    } catch (error) {
      this.#fail(error, "channelFailed");
      return;
    }
    if (message) state.connection.receive(message);
  }

  #wire(channel: SecureChannel): Wire {
    const ws = this.#ws;
    return {
      write(message, taken) {
        const frames = channel.seal(message);
        frames.forEach((frame, index) => {
          if (index < frames.length - 1) ws.send(frame);
          else ws.send(frame, () => taken());
        });
      },
      close: (reason) => this.close(reason),
      destroy: () => ws.terminate(),
    };
  }

  #fail(error: unknown, reason: CloseReason): void {
    const { log } = this.#options;
    if (error instanceof NoiseError) {
      log.info({ code: error.code, reason }, "Closing a WebSocket that broke the rules");
    } else {
      log.error({ trace: traceOf(error) }, "A frame met a bug");
    }
    this.close(reason);
    this.#connection?.ended();
  }

  #isClosed(): boolean {
    return this.#state.kind === "closed";
  }

  #closed(): void {
    this.#stopDeadline();
    this.#gone();
    this.#state = { kind: "closed" };
    if (this.#placeOf !== null) this.#options.admissions.leave(this.#placeOf);
    this.#connection?.ended();
  }
}
