// Unpacks without a stream, so that it is done as soon as promises are: for virtual time.

import { inflateRawSync } from "node:zlib";
import { type Unpack, UnpackError } from "../sync/unpack.ts";

export const unpackAtOnce: Unpack = async (packed, size) => {
  let unpacked: Uint8Array;
  try {
    unpacked = inflateRawSync(packed, { maxOutputLength: Math.max(1, size) });
  } catch (cause) {
    throw new UnpackError("damaged", "A packed message cannot be unpacked.", cause);
  }
  if (unpacked.length === size) return new Uint8Array(unpacked);
  throw new UnpackError("too_short", `A message unpacks to ${unpacked.length} bytes, not ${size}.`);
};
