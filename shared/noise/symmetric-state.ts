// The chaining key and transcript hash of a handshake (Noise specification, section 5.2).

import { CipherState } from "./cipher-state.ts";
import { type Bytes, concatBytes, type NoiseCrypto } from "./noise-crypto.ts";

const ONE = Uint8Array.of(1);
const TWO = Uint8Array.of(2);
const NOTHING = new Uint8Array(0);

export class SymmetricState {
  readonly #crypto: NoiseCrypto;
  #chainingKey: Uint8Array;
  #hash: Uint8Array;
  #cipher: CipherState | null = null;

  /** `protocolName` has exactly 32 bytes, so it is the first hash as it stands. */
  constructor(crypto: NoiseCrypto, protocolName: Uint8Array) {
    this.#crypto = crypto;
    this.#hash = protocolName;
    this.#chainingKey = protocolName;
  }

  get handshakeHash(): Uint8Array {
    return this.#hash;
  }

  /** True once a key is mixed in: what follows is encrypted. */
  get isKeyed(): boolean {
    return this.#cipher !== null;
  }

  mixHash(bytes: Uint8Array): void {
    this.#hash = this.#crypto.hash(concatBytes(this.#hash, bytes));
  }

  mixKey(secret: Uint8Array): void {
    const [chainingKey, key] = this.#derive(secret);
    this.#chainingKey = chainingKey;
    this.#cipher = new CipherState(this.#crypto, key);
  }

  encryptAndHash(plaintext: Uint8Array): Uint8Array {
    const ciphertext = this.#cipher ? this.#cipher.encrypt(this.#hash, plaintext) : plaintext;
    this.mixHash(ciphertext);
    return ciphertext;
  }

  decryptAndHash(ciphertext: Uint8Array): Uint8Array {
    const plaintext = this.#cipher ? this.#cipher.decrypt(this.#hash, ciphertext) : ciphertext;
    this.mixHash(ciphertext);
    return plaintext;
  }

  /** The initiator's sending direction first. */
  split(): [CipherState, CipherState] {
    const [first, second] = this.#derive(NOTHING);
    return [new CipherState(this.#crypto, first), new CipherState(this.#crypto, second)];
  }

  /** HKDF with two outputs (section 4.3). */
  #derive(secret: Uint8Array): [Bytes, Bytes] {
    const temporary = this.#crypto.hmac(this.#chainingKey, secret);
    const first = this.#crypto.hmac(temporary, ONE);
    return [first, this.#crypto.hmac(temporary, concatBytes(first, TWO))];
  }
}
