import { MESSAGE_MAX_BYTES } from "../../shared/limits.ts";
import { CodecError, encode } from "../../shared/protocol/codec.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";

/** Throws `CodecError` if the message is larger than MESSAGE_MAX_BYTES. */
export type EncodeMessage = (message: DaemonMessage) => Uint8Array;

/** Encodes an object once, however many connections are sent it: it must not change after that. */
export function makeEncodeMessage(): EncodeMessage {
  const encoded = new WeakMap<DaemonMessage, Uint8Array>();
  return (message) => {
    const known = encoded.get(message);
    if (known) return known;
    const bytes = encode(message);
    if (bytes.length > MESSAGE_MAX_BYTES) {
      throw new CodecError(`A ${message.type} of ${bytes.length} bytes is too large to send.`);
    }
    encoded.set(message, bytes);
    return bytes;
  };
}
