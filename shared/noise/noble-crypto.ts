// The primitives in JavaScript, for browsers and tests. WebCrypto will not do: it is asynchronous,
// and absent on plain http.

import { chacha20poly1305 } from "@noble/ciphers/chacha.js";

import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { isAllZero, type NoiseCrypto, nonceBytes } from "./noise-crypto.ts";
import { NoiseError } from "./noise-error.ts";
import { x25519 } from "./x25519.ts";

export const nobleCrypto: NoiseCrypto = {
  publicKey: (privateKey) => x25519.getPublicKey(privateKey),
  dh(privateKey, publicKey) {
    const secret = converting("bad_key", "The other side's key is unusable.", () =>
      x25519.getSharedSecret(privateKey, publicKey),
    );
    if (isAllZero(secret)) throw new NoiseError("bad_key", "The other side's key is unusable.");
    return secret;
  },
  encrypt: (key, nonce, ad, plaintext) =>
    chacha20poly1305(key, nonceBytes(nonce), ad).encrypt(plaintext),
  decrypt: (key, nonce, ad, ciphertext) =>
    converting("decrypt_failed", "The bytes do not authenticate.", () =>
      chacha20poly1305(key, nonceBytes(nonce), ad).decrypt(ciphertext),
    ),
  hash: (bytes) => sha256(bytes),
  hmac: (key, bytes) => hmac(sha256, key, bytes),
};

function converting<T>(code: "bad_key" | "decrypt_failed", message: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new NoiseError(code, message, error);
  }
}
