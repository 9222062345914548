// Branded identifiers. A brand keeps a device id from being passed where a session id is meant.

export type SessionId = string & { readonly brand: "SessionId" };
/** Made by the client; names one command. The request (and the session) a command makes has the same id. */
export type CommandId = string & { readonly brand: "CommandId" };
export type RequestId = string & { readonly brand: "RequestId" };
/** First 16 bytes of the SHA-256 of the device's public key, base64url: who a device is needs no look-up. */
export type DeviceId = string & { readonly brand: "DeviceId" };
/** Made by the model or the daemon; unique within its turn. */
export type CallId = string & { readonly brand: "CallId" };
/** Lower-case hex SHA-256 of the bytes. */
export type BlobHash = string & { readonly brand: "BlobHash" };

/** 16 to 64 characters of base64url: 128 random bits are 22 of them. */
export const ID_PATTERN = /^[A-Za-z0-9_-]{16,64}$/;
export const CALL_ID_PATTERN = /^[\x21-\x7e]{1,128}$/;
export const BLOB_HASH_PATTERN = /^[0-9a-f]{64}$/;

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Unpadded base64url (RFC 4648 section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(i, i + 3);
    const left = bytes.length - i;
    text += BASE64URL.charAt(a >> 2) + BASE64URL.charAt(((a & 3) << 4) | (b >> 4));
    if (left > 1) text += BASE64URL.charAt(((b & 15) << 2) | (c >> 6));
    if (left > 2) text += BASE64URL.charAt(c & 63);
  }
  return text;
}

/** The inverse of `toBase64Url`; null if the text is not unpadded base64url. */
export function fromBase64Url(text: string): Uint8Array | null {
  if (text.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const character of text) {
    const value = BASE64URL.indexOf(character);
    if (value < 0) return null;
    held = (held << 6) | value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (held >> bits) & 0xff;
    }
  }
  return bytes;
}

/** A device's or daemon's key as people compare it: the first 12 bytes of its SHA-256, in fours. */
export function toFingerprint(keyHash: Uint8Array): string {
  return (toBase64Url(keyHash.subarray(0, 12)).match(/.{4}/g) ?? []).join(" ");
}
