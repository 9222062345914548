// Packs what is long: compressed off the main thread, for clients that can read it.

import { deflateRaw } from "node:zlib";
import { PACK_MIN_BYTES } from "../../shared/limits.ts";
import { encode } from "../../shared/protocol/codec.ts";
import type { DaemonMessage, PACKINGS } from "../../shared/protocol/messages.ts";

/** The one packing there is. */
export const PACKING = "deflate-raw" satisfies (typeof PACKINGS)[number];
/** Within nine per cent of the best, at less than half its time. */
const DEFLATE_LEVEL = 2;
/** What most pages fit into: each further chunk takes another turn of this thread and the other. */
const CHUNK_BYTES = 512 * 1024;

export type Deflate = (bytes: Uint8Array) => Promise<Uint8Array<ArrayBuffer>>;

export const deflate: Deflate = (bytes) =>
  new Promise((resolve, reject) => {
    deflateRaw(bytes, { level: DEFLATE_LEVEL, chunkSize: CHUNK_BYTES }, (error, deflated) => {
      if (error === null) resolve(new Uint8Array(deflated));
      else reject(error);
    });
  });

/** The message itself where packing would not make it shorter. */
export const packMessage = async (
  message: DaemonMessage,
  deflate: Deflate,
): Promise<DaemonMessage> => (await packEncoded(encode(message), deflate)) ?? message;

/** Null where packing would not make it shorter. */
export async function packEncoded(
  plain: Uint8Array,
  deflate: Deflate,
): Promise<DaemonMessage | null> {
  if (plain.length < PACK_MIN_BYTES) return null;
  const bytes = await deflate(plain);
  if (bytes.length >= plain.length) return null;
  return { type: "packed", packing: PACKING, size: plain.length, bytes };
}
