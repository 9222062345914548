// One direction's key and nonce (Noise specification revision 34, section 5.1).

import type { Bytes, NoiseCrypto } from "./noise-crypto.ts";
import { NoiseError } from "./noise-error.ts";

export class CipherState {
  readonly #crypto: NoiseCrypto;
  readonly #key: Uint8Array;
  #nonce: number;

  /** `nonce` is for tests of the far end of the counter. */
  constructor(crypto: NoiseCrypto, key: Uint8Array, nonce = 0) {
    this.#crypto = crypto;
    this.#key = key;
    this.#nonce = nonce;
  }

  encrypt(ad: Uint8Array, plaintext: Uint8Array): Bytes {
    this.#refuseExhausted();
    const ciphertext = this.#crypto.encrypt(this.#key, this.#nonce, ad, plaintext);
    this.#nonce += 1;
    return ciphertext;
  }

  /** A failure leaves the nonce where it was. */
  decrypt(ad: Uint8Array, ciphertext: Uint8Array): Bytes {
    this.#refuseExhausted();
    const plaintext = this.#crypto.decrypt(this.#key, this.#nonce, ad, ciphertext);
    this.#nonce += 1;
    return plaintext;
  }

  /** The specification reserves 2^64 - 1; a JavaScript number stops counting exactly much earlier. */
  #refuseExhausted(): void {
    if (this.#nonce >= Number.MAX_SAFE_INTEGER) {
      throw new NoiseError("exhausted", "This connection has used up its nonces; open another.");
    }
  }
}
