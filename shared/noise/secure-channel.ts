// What follows the handshake: messages of up to MESSAGE_MAX_BYTES, cut into frames that are one
// Noise transport message each. A frame's plaintext begins with a continuation byte.
// A pure state machine; any failure of `open` ends the channel for good.

import { MESSAGE_MAX_BYTES, NOISE_MESSAGE_MAX_BYTES } from "../limits.ts";
import type { CipherState } from "./cipher-state.ts";
import { type Bytes, TAG_BYTES } from "./noise-crypto.ts";
import { NoiseError } from "./noise-error.ts";

const LAST = 0;
const MORE_FOLLOWS = 1;
const NO_AD = new Uint8Array(0);
/** What one frame carries of a message. */
export const FRAME_BODY_MAX_BYTES = NOISE_MESSAGE_MAX_BYTES - TAG_BYTES - 1;

export class SecureChannel {
  readonly #send: CipherState;
  readonly #receive: CipherState;
  readonly #messageMaxBytes: number;
  #partial: Bytes = new Uint8Array(0);
  #partialLength = 0;
  #isDead = false;

  constructor(send: CipherState, receive: CipherState, messageMaxBytes = MESSAGE_MAX_BYTES) {
    this.#send = send;
    this.#receive = receive;
    this.#messageMaxBytes = messageMaxBytes;
  }

  /** The frames of one message; they must be sent in this order, with nothing between them. */
  seal(message: Uint8Array): Bytes[] {
    if (this.#isDead) throw new NoiseError("dead", "This channel has failed.");
    if (message.length > this.#messageMaxBytes) {
      throw new NoiseError(
        "too_large",
        `A message of ${message.length} bytes is too large to send.`,
      );
    }
    const frames: Bytes[] = [];
    let at = 0;
    do {
      const body = message.subarray(at, at + FRAME_BODY_MAX_BYTES);
      at += body.length;
      const plaintext = new Uint8Array(1 + body.length);
      plaintext[0] = at < message.length ? MORE_FOLLOWS : LAST;
      plaintext.set(body, 1);
      frames.push(this.#send.encrypt(NO_AD, plaintext));
    } while (at < message.length);
    return frames;
  }

  /** The message that this frame completes; null while more frames are to come. Throws `NoiseError`. */
  open(frame: Uint8Array): Bytes | null {
    if (this.#isDead) throw new NoiseError("dead", "This channel has failed.");
    try {
      return this.#open(frame);
    } catch (error) {
      this.#isDead = true;
      this.#partial = new Uint8Array(0);
      throw error;
    }
  }

  #open(frame: Uint8Array): Bytes | null {
    if (frame.length > NOISE_MESSAGE_MAX_BYTES) {
      throw new NoiseError("too_large", "A frame is longer than Noise allows.");
    }
    const plaintext = this.#receive.decrypt(NO_AD, frame);
    const body = plaintext.subarray(1);
    switch (plaintext[0]) {
      case LAST:
        if (this.#partialLength === 0) return this.#checkLength(body);
        this.#append(body);
        return this.#takePartial();
      case MORE_FOLLOWS:
        if (body.length === 0) {
          throw new NoiseError("bad_message", "A frame promises more and carries nothing.");
        }
        this.#append(body);
        return null;
      default:
        throw new NoiseError("bad_message", "A frame does not say whether it is the last.");
    }
  }

  #checkLength(body: Bytes): Bytes {
    if (body.length > this.#messageMaxBytes) this.#refuseLength();
    return body;
  }

  /** Grows with what was received, by doubling, so many small frames cost no more than few large ones. */
  #append(body: Bytes): void {
    const length = this.#partialLength + body.length;
    if (length > this.#messageMaxBytes) this.#refuseLength();
    if (length > this.#partial.length) {
      const grown = new Uint8Array(
        Math.min(this.#messageMaxBytes, Math.max(length, 2 * this.#partial.length)),
      );
      grown.set(this.#partial.subarray(0, this.#partialLength));
      this.#partial = grown;
    }
    this.#partial.set(body, this.#partialLength);
    this.#partialLength = length;
  }

  #takePartial(): Bytes {
    const message = this.#partial.subarray(0, this.#partialLength);
    this.#partial = new Uint8Array(0);
    this.#partialLength = 0;
    return message;
  }

  #refuseLength(): never {
    throw new NoiseError("too_large", `A message is longer than ${this.#messageMaxBytes} bytes.`);
  }
}
