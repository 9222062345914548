// The XX and IK handshakes of Noise_*_25519_ChaChaPoly_SHA256 (Noise specification, sections 5.3
// and 7.5). A failed read ends the state for good; a call out of turn harms nothing.

import { NOISE_MESSAGE_MAX_BYTES } from "../limits.ts";
import { asciiBytes } from "./ascii-bytes.ts";
import type { CipherState } from "./cipher-state.ts";
import {
  type Bytes,
  concatBytes,
  KEY_BYTES,
  type KeyPair,
  type NoiseCrypto,
  TAG_BYTES,
} from "./noise-crypto.ts";
import { NoiseError } from "./noise-error.ts";
import { SymmetricState } from "./symmetric-state.ts";

type Token = "e" | "s" | "ee" | "es" | "se" | "ss";
export type Pattern = "XX" | "IK";

const MESSAGES: Record<Pattern, readonly (readonly Token[])[]> = {
  XX: [["e"], ["e", "ee", "s", "es"], ["s", "se"]],
  IK: [
    ["e", "es", "s", "ss"],
    ["e", "ee", "se"],
  ],
};

export interface HandshakeOptions {
  readonly crypto: NoiseCrypto;
  readonly pattern: Pattern;
  readonly isInitiator: boolean;
  readonly prologue: Uint8Array;
  readonly staticKeys: KeyPair;
  readonly ephemeralKeys: KeyPair;
  /** What an IK initiator must know beforehand; null otherwise. */
  readonly remoteStatic: Uint8Array | null;
}

export interface HandshakeResult {
  readonly send: CipherState;
  readonly receive: CipherState;
  readonly remoteStatic: Uint8Array;
  /** Identifies this one connection (channel binding, section 11.2). */
  readonly handshakeHash: Uint8Array;
}

export class HandshakeState {
  readonly #options: HandshakeOptions;
  readonly #symmetric: SymmetricState;
  #remoteStatic: Uint8Array | null;
  #remoteEphemeral: Uint8Array | null = null;
  #step = 0;
  #isDead = false;

  constructor(options: HandshakeOptions) {
    const { crypto, pattern, prologue } = options;
    this.#options = options;
    this.#remoteStatic = options.remoteStatic;
    this.#symmetric = new SymmetricState(
      crypto,
      asciiBytes(`Noise_${pattern}_25519_ChaChaPoly_SHA256`),
    );
    this.#symmetric.mixHash(prologue);
    if (pattern === "IK") {
      const known = options.isInitiator ? options.remoteStatic : options.staticKeys.publicKey;
      if (known?.length !== KEY_BYTES) {
        throw new NoiseError("bad_key", "IK needs the other side's key of 32 bytes beforehand.");
      }
      this.#symmetric.mixHash(known);
    }
  }

  /** The other side's static key once it is known. It is proved only when the handshake is finished. */
  get remoteStatic(): Uint8Array | null {
    return this.#remoteStatic;
  }

  write(payload: Uint8Array): Bytes {
    const tokens = this.#takeTurn(true);
    return this.#orDie(() => {
      const parts = tokens.map((token) => this.#writeToken(token));
      parts.push(this.#symmetric.encryptAndHash(payload));
      const message = concatBytes(...parts);
      if (message.length > NOISE_MESSAGE_MAX_BYTES) {
        throw new NoiseError("too_large", "The payload does not fit a handshake message.");
      }
      return message;
    });
  }

  /** Returns the payload. */
  read(message: Uint8Array): Uint8Array {
    const tokens = this.#takeTurn(false);
    return this.#orDie(() => {
      if (message.length > NOISE_MESSAGE_MAX_BYTES) {
        throw new NoiseError("too_large", "A handshake message is longer than Noise allows.");
      }
      let rest = message;
      for (const token of tokens) rest = this.#readToken(token, rest);
      return this.#symmetric.decryptAndHash(rest);
    });
  }

  finish(): HandshakeResult {
    if (this.#isDead) throw new NoiseError("dead", "This handshake has failed.");
    const isDone = this.#step === MESSAGES[this.#options.pattern].length;
    if (!isDone || this.#remoteStatic === null) {
      throw new NoiseError("out_of_turn", "The handshake is not finished yet.");
    }
    const [first, second] = this.#symmetric.split();
    const isInitiator = this.#options.isInitiator;
    return {
      send: isInitiator ? first : second,
      receive: isInitiator ? second : first,
      remoteStatic: this.#remoteStatic,
      handshakeHash: this.#symmetric.handshakeHash,
    };
  }

  #takeTurn(isWriting: boolean): readonly Token[] {
    if (this.#isDead) throw new NoiseError("dead", "This handshake has failed.");
    const tokens = MESSAGES[this.#options.pattern][this.#step];
    const isOurs = (this.#step % 2 === 0) === this.#options.isInitiator;
    if (tokens === undefined || isOurs !== isWriting) {
      throw new NoiseError("out_of_turn", "It is not the turn for this handshake message.");
    }
    this.#step += 1;
    return tokens;
  }

  #orDie<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      this.#isDead = true;
      throw error;
    }
  }

  #writeToken(token: Token): Uint8Array {
    const { ephemeralKeys, staticKeys } = this.#options;
    if (token === "e") {
      this.#symmetric.mixHash(ephemeralKeys.publicKey);
      return ephemeralKeys.publicKey;
    }
    if (token === "s") return this.#symmetric.encryptAndHash(staticKeys.publicKey);
    this.#mixSecret(token);
    return new Uint8Array(0);
  }

  #readToken(token: Token, rest: Uint8Array): Uint8Array {
    if (token === "e") {
      this.#remoteEphemeral = take(rest, KEY_BYTES);
      this.#symmetric.mixHash(this.#remoteEphemeral);
      return rest.subarray(KEY_BYTES);
    }
    if (token === "s") {
      const length = KEY_BYTES + (this.#symmetric.isKeyed ? TAG_BYTES : 0);
      this.#remoteStatic = this.#symmetric.decryptAndHash(take(rest, length));
      return rest.subarray(length);
    }
    this.#mixSecret(token);
    return rest;
  }

  /** In a token the first letter is the initiator's key, the second the responder's. */
  #mixSecret(token: "ee" | "es" | "se" | "ss"): void {
    const { crypto, ephemeralKeys, staticKeys, isInitiator } = this.#options;
    const ours = token.charAt(isInitiator ? 0 : 1);
    const theirs = token.charAt(isInitiator ? 1 : 0);
    const remote = theirs === "e" ? this.#remoteEphemeral : this.#remoteStatic;
    if (remote === null) throw new NoiseError("out_of_turn", "A key is needed before it was sent.");
    const { privateKey } = ours === "e" ? ephemeralKeys : staticKeys;
    this.#symmetric.mixKey(crypto.dh(privateKey, remote));
  }
}

/** A copy, so that no state depends on a buffer that the socket may reuse. */
function take(bytes: Uint8Array, length: number): Bytes {
  if (bytes.length < length) {
    throw new NoiseError("bad_message", "A handshake message is cut short.");
  }
  return new Uint8Array(bytes.subarray(0, length));
}
