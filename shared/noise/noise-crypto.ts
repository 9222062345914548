// The primitives of 25519_ChaChaPoly_SHA256 behind one interface, so that the daemon can use its
// native ciphers and a browser JavaScript ones. Every implementation gives the same bytes.

/** Bytes in memory of their own kind: what a WebSocket, IndexedDB or postMessage takes. */
export type Bytes = Uint8Array<ArrayBuffer>;

export const KEY_BYTES = 32;
export const TAG_BYTES = 16;

export interface KeyPair {
  /** 32 random bytes; clamped where they are used. */
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
}

export interface NoiseCrypto {
  publicKey(privateKey: Uint8Array): Bytes;
  /** Throws `NoiseError` bad_key if the result is all zero: the public key is a low-order point. */
  dh(privateKey: Uint8Array, publicKey: Uint8Array): Bytes;
  /** ChaCha20-Poly1305; the tag comes last. `nonce` is a safe integer. */
  encrypt(key: Uint8Array, nonce: number, ad: Uint8Array, plaintext: Uint8Array): Bytes;
  /** Throws `NoiseError` decrypt_failed, whatever was wrong with the ciphertext. */
  decrypt(key: Uint8Array, nonce: number, ad: Uint8Array, ciphertext: Uint8Array): Bytes;
  /** SHA-256. */
  hash(bytes: Uint8Array): Bytes;
  /** HMAC-SHA-256. */
  hmac(key: Uint8Array, bytes: Uint8Array): Bytes;
}

export type RandomBytes = (length: number) => Uint8Array;

export function makeKeyPair(crypto: NoiseCrypto, randomBytes: RandomBytes): KeyPair {
  const privateKey = randomBytes(KEY_BYTES);
  return { privateKey, publicKey: crypto.publicKey(privateKey) };
}

/** The nonce of the Noise specification, section 12.2: four zero bytes, then 64 bits little-endian. */
export function nonceBytes(nonce: number): Bytes {
  const bytes = new Uint8Array(12);
  const view = new DataView(bytes.buffer);
  view.setUint32(4, nonce % 0x1_0000_0000, true);
  view.setUint32(8, Math.floor(nonce / 0x1_0000_0000), true);
  return bytes;
}

export function concatBytes(...parts: Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export const isAllZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
