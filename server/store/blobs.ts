// Bytes named by their hash: stored once, kept while a row refers to them.

import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { BlobHash, DeviceId } from "../../shared/ids.ts";
import {
  BLOB_CHUNK_MAX_BYTES,
  TEXT_HEAD_MAX_BYTES,
  TEXT_INLINE_MAX_BYTES,
} from "../../shared/limits.ts";
import type { TextBody } from "../../shared/protocol/rows.ts";
import { isDeflated, packBytes, unpackBytes } from "./body.ts";
import { StoreError } from "./store.ts";
import type { Tables } from "./tables.ts";

export interface RowKey {
  readonly kind: string;
  readonly session_id: string;
  readonly id: string;
}

/** The body of a text, and the blob it needs when it is too long for a row. */
export function makeTextBody(text: string): {
  body: TextBody;
  blob: { hash: BlobHash; bytes: Uint8Array } | null;
} {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= TEXT_INLINE_MAX_BYTES) {
    // What UTF-8 cannot say (a lone surrogate) is replaced here as it is in a blob.
    return { body: { head: bytes.toString("utf8"), size: bytes.length, blob: null }, blob: null };
  }
  const hash = createHash("sha256").update(bytes).digest("hex") as BlobHash;
  const head = bytes.subarray(0, characterBoundary(bytes, TEXT_HEAD_MAX_BYTES)).toString("utf8");
  return { body: { head, size: bytes.length, blob: hash }, blob: { hash, bytes } };
}

/** The last position at or before `at` that does not cut a character in UTF-8. */
function characterBoundary(bytes: Uint8Array, at: number): number {
  let boundary = at;
  while (boundary > 0 && ((bytes[boundary] ?? 0) & 0xc0) === 0x80) boundary -= 1;
  return boundary;
}

export async function insertBlob(
  db: Kysely<Tables>,
  hash: BlobHash,
  bytes: Uint8Array,
): Promise<void> {
  if (await hasBlob(db, hash)) return;
  const body = packBytes(bytes);
  await db.insertInto("blobs").values({ hash, size: bytes.length, body }).execute();
}

export async function hasBlob(db: Kysely<Tables>, hash: string): Promise<boolean> {
  const query = db.selectFrom("blobs").select("hash").where("hash", "=", hash);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Makes `wanted` the blobs that the row refers to; returns the hashes it no longer does. */
export async function replaceRefs(
  db: Kysely<Tables>,
  row: RowKey,
  wanted: ReadonlySet<string>,
): Promise<string[]> {
  const held = await db
    .selectFrom("blob_refs")
    .select("hash")
    .where("session_id", "=", row.session_id)
    .where("kind", "=", row.kind)
    .where("id", "=", row.id)
    .execute();
  const heldHashes = new Set(held.map(({ hash }) => hash));
  const released = [...heldHashes].filter((hash) => !wanted.has(hash));
  for (const hash of released) {
    await db
      .deleteFrom("blob_refs")
      .where("hash", "=", hash)
      .where("session_id", "=", row.session_id)
      .where("kind", "=", row.kind)
      .where("id", "=", row.id)
      .execute();
  }
  for (const hash of wanted) {
    if (!heldHashes.has(hash))
      await db
        .insertInto("blob_refs")
        .values({ hash, ...row })
        .execute();
  }
  return released;
}

export async function deleteUnreferenced(db: Kysely<Tables>, hash: string): Promise<void> {
  await db
    .deleteFrom("blobs")
    .where("hash", "=", hash)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("blob_refs").select("blob_refs.hash").where("hash", "=", hash))),
    )
    .execute();
}

export async function readWholeText(db: Kysely<Tables>, body: TextBody): Promise<string> {
  if (body.blob === null) return body.head;
  const entry = await db
    .selectFrom("blobs")
    .select(["size", "body"])
    .where("hash", "=", body.blob)
    .executeTakeFirst();
  if (entry === undefined) {
    throw new StoreError("blob_missing", `The blob ${body.blob} is not in the store`);
  }
  const bytes = unpackBytes(entry.body, entry.size, `The blob ${body.blob}`);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}

/** Whether a row of a session that was granted to the device refers to the blob. */
export async function isBlobGranted(
  db: Kysely<Tables>,
  hash: BlobHash,
  deviceId: DeviceId,
): Promise<boolean> {
  const granted = await db
    .selectFrom("blob_refs")
    .innerJoin("rows", "rows.session_id", "blob_refs.session_id")
    .select("rows.rev")
    .where("blob_refs.hash", "=", hash)
    .where("rows.kind", "=", "grant")
    .where("rows.id", "=", deviceId)
    .where("rows.body", "is not", null)
    .executeTakeFirst();
  return granted !== undefined;
}

/** A window of a blob; null if there is no such blob. Bytes stored as they are come without the rest. */
export async function readBlobWindow(
  db: Kysely<Tables>,
  hash: BlobHash,
  offset: number,
  length: number,
): Promise<{ bytes: Uint8Array; size: number } | null> {
  const entry = await db
    .selectFrom("blobs")
    .select(["size", sql<Uint8Array>`substr(body, 1, 1)`.as("tag")])
    .where("hash", "=", hash)
    .executeTakeFirst();
  if (entry === undefined) return null;
  const { size, tag } = entry;
  const from = Math.min(Math.max(0, offset), size);
  const to = Math.min(from + Math.min(Math.max(0, length), BLOB_CHUNK_MAX_BYTES), size);
  const window = isDeflated(tag[0])
    ? sql<Uint8Array>`body`
    : sql<Uint8Array>`substr(body, ${from + 2}, ${to - from})`;
  const stored = await db
    .selectFrom("blobs")
    .select(window.as("bytes"))
    .where("hash", "=", hash)
    .executeTakeFirst();
  if (stored === undefined) return null;
  if (!isDeflated(tag[0])) return { bytes: new Uint8Array(stored.bytes), size };
  const whole = unpackBytes(stored.bytes, size, `The blob ${hash}`);
  return { bytes: new Uint8Array(whole.subarray(from, to)), size };
}
