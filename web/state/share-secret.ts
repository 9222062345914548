// The secret of a link that shares a session, and the id that the daemon knows it by (rows.ts, ShareRow).

import { sha256 } from "@noble/hashes/sha2.js";
import { toBase64Url } from "../../shared/ids.ts";

const SECRET_BYTES = 16;
const ID_BYTES = 16;

export interface ShareSecret {
  readonly secret: string;
  readonly shareId: string;
}

export function makeShareSecret(randomBytes: (length: number) => Uint8Array): ShareSecret {
  const secret = toBase64Url(randomBytes(SECRET_BYTES));
  return { secret, shareId: shareIdOf(secret) };
}

/** The hash of the secret's characters. */
export function shareIdOf(secret: string): string {
  const characters = Uint8Array.from(secret, (character) => character.charCodeAt(0));
  return toBase64Url(sha256(characters).subarray(0, ID_BYTES));
}
