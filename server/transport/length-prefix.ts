// How messages are told apart on the Unix socket: each is preceded by its length, 32 bits big-endian.

import { MESSAGE_MAX_BYTES } from "../../shared/limits.ts";

const PREFIX_BYTES = 4;

export function prefixLength(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length);
  return prefix;
}

class MessageTooLarge extends Error {
  override readonly name = "MessageTooLarge";
}

/** Puts messages together from what arrives. Holds no more than has arrived. */
export class PrefixReader {
  #chunks: Buffer[] = [];
  #heldBytes = 0;

  /** The messages that `chunk` completes. Throws `MessageTooLarge`; nothing may follow that. */
  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#heldBytes += chunk.length;
    const messages: Buffer[] = [];
    for (let length = this.#wanted(); length !== null; length = this.#wanted()) {
      const [only, ...more] = this.#chunks;
      const held = only && more.length === 0 ? only : Buffer.concat(this.#chunks);
      const end = PREFIX_BYTES + length;
      messages.push(held.subarray(PREFIX_BYTES, end));
      this.#chunks = held.length > end ? [held.subarray(end)] : [];
      this.#heldBytes -= end;
    }
    return messages;
  }

  /** The length of the next message if all of it is here. */
  #wanted(): number | null {
    if (this.#heldBytes < PREFIX_BYTES) return null;
    let [first] = this.#chunks;
    if (first === undefined || first.length < PREFIX_BYTES) {
      first = Buffer.concat(this.#chunks);
      this.#chunks = [first];
    }
    const length = first.readUInt32BE(0);
    if (length > MESSAGE_MAX_BYTES) {
      throw new MessageTooLarge(`A message of ${length} bytes is over the limit.`);
    }
    return this.#heldBytes >= PREFIX_BYTES + length ? length : null;
  }
}
