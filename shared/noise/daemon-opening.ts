// The daemon's side of a handshake as a pure state machine. It answers the same to every client that
// speaks Noise: who may come in is decided after the handshake, inside it.

import { MODE_IK, MODE_XX } from "../protocol/handshake.ts";
import { NOISE_PROLOGUE } from "../protocol/version.ts";
import { asciiBytes } from "./ascii-bytes.ts";
import { HandshakeState, type Pattern } from "./handshake-state.ts";
import {
  type Bytes,
  type KeyPair,
  makeKeyPair,
  type NoiseCrypto,
  type RandomBytes,
} from "./noise-crypto.ts";
import { NoiseError } from "./noise-error.ts";
import { SecureChannel } from "./secure-channel.ts";

export interface DaemonOpeningOptions {
  readonly crypto: NoiseCrypto;
  readonly randomBytes: RandomBytes;
  /** The daemon's identity. */
  readonly staticKeys: KeyPair;
}

export interface OpenedByClient {
  readonly channel: SecureChannel;
  /** The device's static key, proved. */
  readonly clientKey: Uint8Array;
  /** The encoded `Introduction`, authenticated, not yet checked. */
  readonly introduction: Uint8Array;
}

export interface DaemonStep {
  /** To send now. */
  readonly frame: Bytes | null;
  /** Not null once the handshake is finished; then `receive` must not be called again. */
  readonly opened: OpenedByClient | null;
}

export interface DaemonOpening {
  /** Takes a frame of the client. Throws `NoiseError`; after that the connection is to be closed. */
  receive(frame: Uint8Array): DaemonStep;
}

export function awaitClient(options: DaemonOpeningOptions): DaemonOpening {
  let state: HandshakeState | null = null;
  return {
    receive(frame) {
      if (state !== null) return finish(state, state.read(frame));
      const pattern = patternOf(frame[0]);
      state = start(options, pattern);
      const payload = state.read(frame.subarray(1));
      switch (pattern) {
        case "XX":
          if (payload.length > 0) {
            throw new NoiseError("bad_message", "The first handshake message carries a payload.");
          }
          return { frame: state.write(new Uint8Array(0)), opened: null };
        case "IK": {
          const answer = state.write(new Uint8Array(0));
          return { ...finish(state, payload), frame: answer };
        }
      }
    },
  };
}

function patternOf(mode: number | undefined): Pattern {
  if (mode === MODE_IK) return "IK";
  if (mode === MODE_XX) return "XX";
  throw new NoiseError("bad_message", "The first frame does not begin with a known mode.");
}

function start({ crypto, randomBytes, staticKeys }: DaemonOpeningOptions, pattern: Pattern) {
  return new HandshakeState({
    crypto,
    pattern,
    isInitiator: false,
    prologue: asciiBytes(NOISE_PROLOGUE),
    staticKeys,
    ephemeralKeys: makeKeyPair(crypto, randomBytes),
    remoteStatic: null,
  });
}

function finish(state: HandshakeState, introduction: Uint8Array): DaemonStep {
  const { send, receive, remoteStatic } = state.finish();
  return {
    frame: null,
    opened: { channel: new SecureChannel(send, receive), clientKey: remoteStatic, introduction },
  };
}
