// One connection to the daemon, from the socket to decoded messages: handshake, confirming whose key
// the daemon has, admission, then messages. It ends once and says why; a new try is a new link.

import { assertNever } from "../../shared/assert-never.ts";
import { toBase64Url, toFingerprint } from "../../shared/ids.ts";
import { HANDSHAKE_TIMEOUT_MS } from "../../shared/limits.ts";
import {
  type ClientIK,
  type ClientXX,
  startIK,
  startXX,
} from "../../shared/noise/client-opening.ts";
import type { Bytes, KeyPair, NoiseCrypto, RandomBytes } from "../../shared/noise/noise-crypto.ts";
import type { SecureChannel } from "../../shared/noise/secure-channel.ts";
import { decode, encode } from "../../shared/protocol/codec.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import {
  type Admission,
  admissionSchema,
  type Identity,
  type Introduction,
} from "../../shared/protocol/handshake.ts";
import {
  type ClientMessage,
  type DaemonMessage,
  daemonMessageSchema,
} from "../../shared/protocol/messages.ts";
import type { Clock } from "../clock.ts";
import { Inbox } from "./inbox.ts";
import type { LostBecause } from "./port.ts";
import { PACKING, type Unpack, UnpackError } from "./unpack.ts";

export interface Socket {
  send(frame: Bytes): void;
  close(): void;
}

export interface SocketListener {
  opened(): void;
  received(frame: Uint8Array): void;
  /** Once; also when it could not be opened. */
  closed(): void;
}

/** Never calls the listener before it has returned. */
export type OpenSocket = (listener: SocketListener) => Socket;

export interface LinkSurroundings {
  readonly openSocket: OpenSocket;
  /** What the daemon's `/identity` says; rejects when it cannot be had. */
  readonly fetchIdentity: () => Promise<Identity>;
  readonly crypto: NoiseCrypto;
  readonly randomBytes: RandomBytes;
  readonly clock: Clock;
  /** Null: this browser cannot, and the daemon is not to pack. */
  readonly unpack: Unpack | null;
}

export interface LinkSetup {
  readonly deviceKeys: KeyPair;
  /** Null: first contact, the key is learned and compared with `/identity`. */
  readonly pinned: Uint8Array | null;
  readonly introduction: Introduction;
}

export type LinkEnd =
  | { kind: "lost"; because: LostBecause }
  | { kind: "refused"; error: WireError; daemon: Identity | null }
  | { kind: "changed-key"; pinned: string; offered: string };

export type PlainMessage = Exclude<DaemonMessage, { type: "packed" }>;

export type Admitted = Extract<Admission, { outcome: "admitted" }>;

export interface LinkListener {
  handshaking(): void;
  /** From now on `send` works. `daemonKey` is the one to pin. */
  admitted(admitted: Admitted, daemonKey: Uint8Array): void;
  /** In the order sent, packed or not (F6). */
  message(message: PlainMessage): void;
  /** Once, after all that came before it was handled; not if the link was closed by `close`. */
  ended(end: LinkEnd): void;
}

type Phase =
  | { kind: "connecting"; opening: Opening | null }
  | Opening
  /** Waiting for `/identity`, to compare the key in the daemon's answer with. */
  | { kind: "confirming" }
  /** It is over; waiting for `/identity` to say why. */
  | { kind: "asking" }
  | { kind: "awaiting-admission"; channel: SecureChannel; daemonKey: Uint8Array }
  | { kind: "open"; channel: SecureChannel }
  | { kind: "ended" };

/** Made while the socket opens: the first use of the curve is slow. */
type Opening =
  | { kind: "ik"; ik: ClientIK; daemonKey: Uint8Array }
  | { kind: "xx"; xx: ClientXX; identity: Promise<Identity | null> };

export class Link {
  readonly #around: LinkSurroundings;
  readonly #setup: LinkSetup;
  readonly #listener: LinkListener;
  readonly #socket: Socket;
  readonly #cancelDeadline: () => void;
  readonly #inbox = new Inbox();
  #phase: Phase = { kind: "connecting", opening: null };
  #lastHeardAt: number;
  #lastSentAt: number;

  constructor(around: LinkSurroundings, setup: LinkSetup, listener: LinkListener) {
    this.#around = around;
    this.#setup = setup;
    this.#listener = listener;
    this.#lastHeardAt = this.#lastSentAt = around.clock.now();
    this.#cancelDeadline = around.clock.after(HANDSHAKE_TIMEOUT_MS, () => {
      this.#lose(this.#phase.kind === "connecting" ? "unreachable" : "silent");
    });
    this.#socket = around.openSocket({
      opened: () => this.#opened(),
      received: (frame) => this.#received(frame),
      closed: () => this.#closed(),
    });
    this.#phase = { kind: "connecting", opening: this.#prepare() };
  }

  get lastHeardAt(): number {
    return this.#lastHeardAt;
  }

  get lastSentAt(): number {
    return this.#lastSentAt;
  }

  /** For `hello`. */
  get packings(): string[] {
    return this.#around.unpack === null ? [] : [PACKING];
  }

  /** False, with nothing sent: the link is not admitted yet, or has ended. */
  send(message: ClientMessage): boolean {
    if (this.#phase.kind !== "open") return false;
    for (const frame of this.#phase.channel.seal(encode(message))) this.#sendFrame(frame);
    return true;
  }

  /** Ends it without a word to the listener. */
  close(): void {
    if (this.#phase.kind === "ended") return;
    this.#phase = { kind: "ended" };
    this.#inbox.empty();
    this.#cancelDeadline();
    this.#socket.close();
  }

  #prepare(): Opening {
    const { crypto, randomBytes } = this.#around;
    const { deviceKeys, pinned, introduction } = this.#setup;
    const options = { crypto, randomBytes, staticKeys: deviceKeys };
    if (pinned === null) {
      return { kind: "xx", xx: startXX(options), identity: this.#identityOrNull() };
    }
    const ik = startIK(options, pinned, encode(introduction));
    return { kind: "ik", ik, daemonKey: pinned };
  }

  #opened(): void {
    if (this.#phase.kind !== "connecting" || this.#phase.opening === null) return;
    this.#lastHeardAt = this.#around.clock.now();
    const { opening } = this.#phase;
    this.#phase = opening;
    this.#listener.handshaking();
    this.#sendFrame(opening.kind === "ik" ? opening.ik.frame : opening.xx.frame);
  }

  #received(frame: Uint8Array): void {
    this.#lastHeardAt = this.#around.clock.now();
    const phase = this.#phase;
    let effect: () => void;
    try {
      effect = this.#read(phase, frame);
    } catch (error) {
      this.#unreadable(phase, error);
      return;
    }
    effect();
  }

  /** What the frame leads to; throws if it cannot be decrypted, decoded or understood. */
  #read(phase: Phase, frame: Uint8Array): () => void {
    switch (phase.kind) {
      case "ik": {
        const channel = phase.ik.receive(frame);
        const { daemonKey } = phase;
        return () => {
          this.#phase = { kind: "awaiting-admission", channel, daemonKey };
        };
      }
      case "xx": {
        const answer = phase.xx.receive(frame);
        return () => void this.#confirm(answer, phase.identity);
      }
      case "awaiting-admission": {
        const bytes = phase.channel.open(frame);
        if (bytes === null) return () => {};
        const admission = admissionSchema.parse(decode(bytes));
        return () => this.#admission(admission, phase.channel, phase.daemonKey);
      }
      case "open": {
        const bytes = phase.channel.open(frame);
        return () => {
          if (bytes !== null) this.#inbox.add(() => this.#arrived(bytes));
        };
      }
      case "connecting":
      case "confirming":
      case "asking":
      case "ended":
        return () => {};
    }
  }

  #arrived(bytes: Uint8Array): Promise<void> | null {
    const message = this.#readOrLose(bytes);
    if (message?.type === "packed") return this.#unpack(message);
    if (message !== null) this.#listener.message(message);
    return null;
  }

  async #unpack({ bytes, size }: Extract<DaemonMessage, { type: "packed" }>): Promise<void> {
    let unpacked: Uint8Array;
    try {
      if (this.#around.unpack === null) throw new UnpackError("unwanted", "Nobody asked to pack.");
      unpacked = await this.#around.unpack(bytes, size);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return this.#lose("closed");
    }
    const message = this.#readOrLose(unpacked);
    if (message?.type === "packed") this.#lose("closed");
    else if (message !== null && this.#phase.kind === "open") this.#listener.message(message);
  }

  #readOrLose(bytes: Uint8Array): DaemonMessage | null {
    try {
      return readMessage(bytes);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#lose("closed");
      return null;
    }
  }

  /** In an IK handshake it may mean that the daemon has another key. */
  #unreadable(phase: Phase, error: unknown): void {
    if (!(error instanceof Error)) throw error;
    if (phase.kind === "ik") void this.#diagnose(phase.daemonKey);
    else this.#loseInTurn();
  }

  #closed(): void {
    const phase = this.#phase;
    if (phase.kind === "ik") void this.#diagnose(phase.daemonKey);
    else if (phase.kind === "connecting") this.#lose("unreachable");
    else if (phase.kind !== "asking") this.#loseInTurn();
  }

  /** XX: nothing secret is sent before the daemon's key is the one that `/identity` names. */
  async #confirm(
    answer: ReturnType<ClientXX["receive"]>,
    asked: Promise<Identity | null>,
  ): Promise<void> {
    this.#phase = { kind: "confirming" };
    const identity = await asked;
    if (this.#phase.kind !== "confirming") return;
    if (identity === null) return this.#lose("unreachable");
    const { daemonKey } = answer;
    if (toBase64Url(daemonKey) !== identity.publicKey) {
      const offered = toFingerprint(this.#around.crypto.hash(daemonKey));
      return this.#end({ kind: "changed-key", pinned: identity.fingerprint, offered });
    }
    const { frame, channel } = answer.introduce(encode(this.#setup.introduction));
    this.#phase = { kind: "awaiting-admission", channel, daemonKey };
    this.#sendFrame(frame);
  }

  /** An IK handshake came to nothing: does the daemon have another key than the one we pinned? */
  async #diagnose(pinned: Uint8Array): Promise<void> {
    this.#phase = { kind: "asking" };
    const identity = await this.#identityOrNull();
    if (this.#phase.kind !== "asking") return;
    if (identity === null || identity.publicKey === toBase64Url(pinned))
      return this.#lose("closed");
    this.#end({
      kind: "changed-key",
      pinned: toFingerprint(this.#around.crypto.hash(pinned)),
      offered: identity.fingerprint,
    });
  }

  #admission(admission: Admission, channel: SecureChannel, daemonKey: Uint8Array): void {
    switch (admission.outcome) {
      case "admitted":
        this.#phase = { kind: "open", channel };
        this.#cancelDeadline();
        this.#listener.admitted(admission, daemonKey);
        return;
      case "refused":
        void this.#refused(admission.error);
        return;
      default:
        assertNever(admission);
    }
  }

  async #refused(error: WireError): Promise<void> {
    this.#phase = { kind: "asking" };
    const daemon = await this.#identityOrNull();
    if (this.#phase.kind === "asking") this.#end({ kind: "refused", error, daemon });
  }

  #identityOrNull(): Promise<Identity | null> {
    return this.#around.fetchIdentity().catch(() => null);
  }

  #sendFrame(frame: Bytes): void {
    this.#lastSentAt = this.#around.clock.now();
    this.#socket.send(frame);
  }

  /** What came before the end still counts. */
  #loseInTurn(): void {
    this.#inbox.add(() => {
      this.#lose("closed");
      return null;
    });
  }

  #lose(because: LostBecause): void {
    this.#end({ kind: "lost", because });
  }

  #end(end: LinkEnd): void {
    if (this.#phase.kind === "ended") return;
    this.close();
    this.#listener.ended(end);
  }
}

/** Null: a kind of message that only a newer daemon knows; nothing here depends on it. */
function readMessage(bytes: Uint8Array): DaemonMessage | null {
  const message: unknown = decode(bytes);
  const parsed = daemonMessageSchema.safeParse(message);
  if (parsed.success) return parsed.data;
  if (isKnownType(message)) throw parsed.error;
  return null;
}

const KNOWN_TYPES: ReadonlySet<unknown> = new Set<DaemonMessage["type"]>([
  "welcome",
  "page",
  "fill",
  "packed",
  "live",
  "result",
  "failure",
  "beat",
  "shuttingDown",
  "evicted",
]);

const isKnownType = (message: unknown): boolean =>
  typeof message === "object" &&
  message !== null &&
  "type" in message &&
  KNOWN_TYPES.has(message.type);
