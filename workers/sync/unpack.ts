// Unpacks what the daemon packed (see `packed` in the protocol), with the browser's own inflate. What
// a message says of its size is a promise to be held to: nothing is kept of one that breaks it.

import type { Bytes } from "../../shared/noise/noise-crypto.ts";

/** Resolves with exactly `size` bytes, else rejects with an `UnpackError`. */
export type Unpack = (packed: Bytes, size: number) => Promise<Bytes>;

/** What `Unpack` reads, as `hello` names it. */
export const PACKING = "deflate-raw";
/** DEFLATE makes no more than this of one byte. */
const RATIO_MAX = 1_032;

/** Null where the browser has no such thing. */
export function makeUnpack(): Unpack | null {
  try {
    new DecompressionStream(PACKING);
  } catch {
    return null; // Missing, or too old for this packing: both are the same to us.
  }
  return inflate;
}

async function inflate(packed: Bytes, size: number): Promise<Bytes> {
  if (size > packed.length * RATIO_MAX) {
    throw new UnpackError("too_short", `${packed.length} bytes cannot unpack to ${size}.`);
  }
  const { writable, readable } = new DecompressionStream(PACKING);
  const writer = writable.getWriter();
  // What fails here fails the reading as well.
  writer.write(packed).catch(() => {});
  writer.close().catch(() => {});
  const reader = readable.getReader();
  const unpacked = new Uint8Array(size);
  let length = 0;
  for (;;) {
    const { done, value } = await nextPart(reader);
    if (done) break;
    if (length + value.length > size) {
      await reader.cancel();
      throw new UnpackError("too_long", `A message unpacks to more than its ${size} bytes.`);
    }
    unpacked.set(value, length);
    length += value.length;
  }
  if (length === size) return unpacked;
  throw new UnpackError("too_short", `A message unpacks to ${length} bytes instead of ${size}.`);
}

async function nextPart(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    return await reader.read();
  } catch (cause) {
    throw new UnpackError("damaged", "A packed message cannot be unpacked.", cause);
  }
}

export class UnpackError extends Error {
  override readonly name = "UnpackError";
  readonly code: "damaged" | "too_short" | "too_long" | "unwanted";

  constructor(code: UnpackError["code"], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
