// Bytes of an open file, and whether they look like text.

import type { FileHandle } from "node:fs/promises";

const BINARY_SNIFF_BYTES = 8 * 1024;

/** Fewer than `bytes` only at the end of the file. */
export async function readAt(handle: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes);
  let filled = 0;
  while (filled < bytes) {
    const { bytesRead } = await handle.read(buffer, filled, bytes - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Text holds no NUL, so one near the start tells. */
export const isBinary = async (handle: FileHandle): Promise<boolean> =>
  (await readAt(handle, 0, BINARY_SNIFF_BYTES)).includes(0);
