// Messages as MessagePack: self-contained maps with field names that any language reads. What a
// decoded value means is the schemas' affair.

import { MsgpackReader } from "./msgpack-reader.ts";
import { MsgpackWriter } from "./msgpack-writer.ts";

export { CodecError } from "./codec-error.ts";
export { Encoded } from "./msgpack-writer.ts";

/** A field whose value is undefined is left out. Throws `CodecError` for what MessagePack cannot hold. */
export function encode(value: unknown): Uint8Array<ArrayBuffer> {
  const writer = new MsgpackWriter();
  writer.write(value);
  return writer.finish();
}

/** The value, of any shape; binary fields as Uint8Array. Throws `CodecError`. */
export function decode(bytes: Uint8Array): unknown {
  return new MsgpackReader(bytes).readWhole();
}
