// blob.read: a piece of a long text or other bytes named by their hash.

import { BLOB_CHUNK_MAX_BYTES } from "../../shared/limits.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { Store } from "../store/store.ts";
import { query } from "./entry.ts";

export const blobMethods = (store: Store) => ({
  "blob.read": query("blob.read", async ({ hash, offset }) => {
    const piece = await store.readBlob(hash, offset, BLOB_CHUNK_MAX_BYTES);
    if (piece === null) {
      throw new Failure("blob_gone", "These bytes are no longer kept; what used them is gone.", {
        details: { hash },
      });
    }
    return { bytes: new Uint8Array(piece.bytes), size: piece.size };
  }),
});
