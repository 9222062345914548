// The client's side of a handshake as pure steps: each takes the bytes that came and gives those to
// send. Every step is good once.

import { MODE_IK, MODE_XX } from "../protocol/handshake.ts";
import { NOISE_PROLOGUE } from "../protocol/version.ts";
import { asciiBytes } from "./ascii-bytes.ts";
import { HandshakeState, type Pattern } from "./handshake-state.ts";
import {
  type Bytes,
  concatBytes,
  type KeyPair,
  makeKeyPair,
  type NoiseCrypto,
  type RandomBytes,
} from "./noise-crypto.ts";
import { NoiseError } from "./noise-error.ts";
import { SecureChannel } from "./secure-channel.ts";

export interface ClientOpeningOptions {
  readonly crypto: NoiseCrypto;
  readonly randomBytes: RandomBytes;
  /** The device's own. */
  readonly staticKeys: KeyPair;
}

/** IK: for a device that has pinned the daemon's key. */
export interface ClientIK {
  /** The first frame to send. */
  readonly frame: Bytes;
  /** Takes the daemon's answer. Throws `NoiseError`: the daemon holds another key, or something meddles. */
  receive(frame: Uint8Array): SecureChannel;
}

/** XX: first contact. */
export interface ClientXX {
  /** The first frame to send. */
  readonly frame: Bytes;
  /** Takes the daemon's answer, which tells its key. Confirm that key before going on. */
  receive(frame: Uint8Array): {
    readonly daemonKey: Uint8Array;
    /** Sends the encoded introduction, to that key alone, and opens the channel. */
    introduce(introduction: Uint8Array): { readonly frame: Bytes; readonly channel: SecureChannel };
  };
}

/** `introduction`: the encoded `Introduction`. */
export function startIK(
  options: ClientOpeningOptions,
  daemonKey: Uint8Array,
  introduction: Uint8Array,
): ClientIK {
  const state = start(options, "IK", daemonKey);
  return {
    frame: concatBytes(Uint8Array.of(MODE_IK), state.write(introduction)),
    receive(frame) {
      refusePayload(state.read(frame));
      return channelOf(state);
    },
  };
}

export function startXX(options: ClientOpeningOptions): ClientXX {
  const state = start(options, "XX", null);
  return {
    frame: concatBytes(Uint8Array.of(MODE_XX), state.write(new Uint8Array(0))),
    receive(frame) {
      refusePayload(state.read(frame));
      const daemonKey = state.remoteStatic;
      if (daemonKey === null) throw new NoiseError("bad_message", "The daemon sent no key.");
      return {
        daemonKey,
        introduce: (introduction) => ({
          frame: state.write(introduction),
          channel: channelOf(state),
        }),
      };
    },
  };
}

function start(options: ClientOpeningOptions, pattern: Pattern, remoteStatic: Uint8Array | null) {
  const { crypto, randomBytes, staticKeys } = options;
  return new HandshakeState({
    crypto,
    pattern,
    isInitiator: true,
    prologue: asciiBytes(NOISE_PROLOGUE),
    staticKeys,
    ephemeralKeys: makeKeyPair(crypto, randomBytes),
    remoteStatic,
  });
}

function channelOf(state: HandshakeState): SecureChannel {
  const { send, receive } = state.finish();
  return new SecureChannel(send, receive);
}

function refusePayload(payload: Uint8Array): void {
  if (payload.length > 0) {
    throw new NoiseError("bad_message", "The daemon's handshake message carries a payload.");
  }
}
