// blob.read: a piece of a long text or other bytes named by their hash.

import type { BlobHash } from "../../shared/ids.ts";
import { BLOB_CHUNK_MAX_BYTES } from "../../shared/limits.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { Store } from "../store/store.ts";
import type { Peer } from "../transport/connection.ts";
import { query } from "./entry.ts";

export const blobMethods = (store: Store) => ({
  "blob.read": query("blob.read", async ({ hash, offset }, peer) => {
    const isVisible = await maySee(store, peer, hash);
    const piece = isVisible ? await store.readBlob(hash, offset, BLOB_CHUNK_MAX_BYTES) : null;
    if (piece === null) {
      throw new Failure("blob_gone", "These bytes are no longer kept; what used them is gone.", {
        details: { hash },
      });
    }
    return { bytes: new Uint8Array(piece.bytes), size: piece.size };
  }),
});

/** What a viewer may not see is for it as what does not exist (F9): no answer tells the two apart. */
async function maySee(store: Store, peer: Peer, hash: BlobHash): Promise<boolean> {
  if (peer.kind === "local" || peer.role === "owner") return true;
  return store.isBlobGranted(hash, peer.deviceId);
}
