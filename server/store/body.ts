// How bytes lie in a column: a tag byte, then the bytes as they are or deflated, whichever is shorter.

import { deflateRawSync, inflateRawSync } from "node:zlib";
import { decode, Encoded, encode } from "../../shared/protocol/codec.ts";
import { StoreError } from "./store.ts";

const RAW = 0;
const DEFLATED = 1;
/** Below this, inflating it for every device that reads it costs more than the disk it saves. */
const DEFLATE_MIN_BYTES = 4_096;
/** Zlib's own least. */
const CHUNK_MIN_BYTES = 64;

/** The same bytes always pack to the same body. */
export function packBytes(bytes: Uint8Array): Uint8Array {
  if (bytes.length > DEFLATE_MIN_BYTES) {
    const deflated = deflateRawSync(bytes, { level: 1 });
    if (deflated.length < bytes.length) return tagged(DEFLATED, deflated);
  }
  return tagged(RAW, bytes);
}

/** `size`: how many bytes were packed. `what` names the place in the error. */
export function unpackBytes(body: Uint8Array, size: number, what: string): Uint8Array {
  const bytes = inflate(body, size, what);
  if (bytes.length !== size) {
    throw new StoreError("corrupt", `${what} holds ${bytes.length} bytes instead of ${size}`);
  }
  return bytes;
}

export const isDeflated = (tag: number | undefined): boolean => tag === DEFLATED;

export function packValue(value: unknown): { body: Uint8Array; size: number } {
  const bytes = encode(value);
  return { body: packBytes(bytes), size: bytes.length };
}

/** What `packValue` packed, still encoded. */
export const unpackEncoded = (body: Uint8Array, what: string, size: number): Encoded =>
  new Encoded(unpackBytes(body, size, what));

export function unpackValue(body: Uint8Array, what: string, size?: number): unknown {
  const bytes = size === undefined ? inflate(body, undefined, what) : unpackBytes(body, size, what);
  return decodeValue(bytes, what);
}

export function decodeValue(bytes: Uint8Array, what: string): unknown {
  try {
    return decode(bytes);
  } catch (cause) {
    throw new StoreError("corrupt", `${what} cannot be decoded`, cause);
  }
}

function inflate(body: Uint8Array, size: number | undefined, what: string): Uint8Array {
  const rest = body.subarray(1);
  if (body[0] === RAW) return rest;
  if (body[0] !== DEFLATED) throw new StoreError("corrupt", `${what} has no known encoding`);
  try {
    return inflateRawSync(rest, size === undefined ? {} : roomFor(size));
  } catch (cause) {
    throw new StoreError("corrupt", `${what} cannot be decompressed`, cause);
  }
}

/** One buffer with a byte to spare: else each call takes 16 KiB, and a page of rows megabytes. */
const roomFor = (size: number) => ({
  maxOutputLength: Math.max(1, size),
  chunkSize: Math.max(CHUNK_MIN_BYTES, size + 1),
});

function tagged(tag: number, bytes: Uint8Array): Uint8Array {
  const body = new Uint8Array(bytes.length + 1);
  body[0] = tag;
  body.set(bytes, 1);
  return body;
}
