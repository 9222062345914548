// The primitives of Noise by Node's native cipher, hash and X25519.

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
} from "node:crypto";
import {
  isAllZero,
  KEY_BYTES,
  type NoiseCrypto,
  nonceBytes,
  TAG_BYTES,
} from "../../shared/noise/noise-crypto.ts";
import { NoiseError } from "../../shared/noise/noise-error.ts";

/** What precedes the 32 bytes in a DER-encoded X25519 key (RFC 8410). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b656e04220420", "hex");
const SPKI_PREFIX = Buffer.from("302a300506032b656e032100", "hex");
const CIPHER = "chacha20-poly1305";

export const nodeCrypto: NoiseCrypto = {
  publicKey(privateKey) {
    const key = createPublicKey(privateKeyObject(privateKey));
    return new Uint8Array(key.export({ format: "der", type: "spki" }).subarray(-KEY_BYTES));
  },
  dh(privateKey, publicKey) {
    const secret = deriveSecret(privateKey, publicKey);
    if (isAllZero(secret)) throw new NoiseError("bad_key", "The other side's key is unusable.");
    return secret;
  },
  encrypt(key, nonce, ad, plaintext) {
    const cipher = createCipheriv(CIPHER, key, nonceBytes(nonce), { authTagLength: TAG_BYTES });
    cipher.setAAD(ad, { plaintextLength: plaintext.length });
    const sealed = new Uint8Array(plaintext.length + TAG_BYTES);
    sealed.set(cipher.update(plaintext));
    cipher.final();
    sealed.set(cipher.getAuthTag(), plaintext.length);
    return sealed;
  },
  decrypt(key, nonce, ad, ciphertext) {
    const length = ciphertext.length - TAG_BYTES;
    if (length < 0) throw new NoiseError("decrypt_failed", "The bytes do not authenticate.");
    const decipher = createDecipheriv(CIPHER, key, nonceBytes(nonce), { authTagLength: TAG_BYTES });
    decipher.setAAD(ad, { plaintextLength: length });
    decipher.setAuthTag(ciphertext.subarray(length));
    const plaintext = new Uint8Array(decipher.update(ciphertext.subarray(0, length)));
    try {
      decipher.final();
    } catch (error) {
      throw new NoiseError("decrypt_failed", "The bytes do not authenticate.", error);
    }
    return plaintext;
  },
  hash: (bytes) => new Uint8Array(createHash("sha256").update(bytes).digest()),
  hmac: (key, bytes) => new Uint8Array(createHmac("sha256", key).update(bytes).digest()),
};

/** Reading a key costs ten times what computing with it does, and each is used again within a handshake. */
const keyObjects = new WeakMap<Uint8Array, KeyObject>();

function privateKeyObject(privateKey: Uint8Array): KeyObject {
  const known = keyObjects.get(privateKey);
  if (known !== undefined) return known;
  const key = Buffer.concat([PKCS8_PREFIX, privateKey]);
  const object = createPrivateKey({ key, format: "der", type: "pkcs8" });
  keyObjects.set(privateKey, object);
  return object;
}

function deriveSecret(privateKey: Uint8Array, publicKey: Uint8Array) {
  // OpenSSL ignores what follows a key's 32 bytes.
  if (publicKey.length !== KEY_BYTES) {
    throw new NoiseError("bad_key", "A public key does not have 32 bytes.");
  }
  try {
    const key = Buffer.concat([SPKI_PREFIX, publicKey]);
    return new Uint8Array(
      diffieHellman({
        privateKey: privateKeyObject(privateKey),
        publicKey: createPublicKey({ key, format: "der", type: "spki" }),
      }),
    );
  } catch (error) {
    throw new NoiseError("bad_key", "The other side's key is unusable.", error);
  }
}
