import type { CloseReason } from "../../shared/protocol/close-codes.ts";

/** An established way to one peer, sealed or not, which carries whole encoded messages. */
export interface Wire {
  /** Hands over one message; `taken`, once, when the operating system has all of it. Never throws. */
  write(message: Uint8Array, taken: () => void): void;
  /** Says why and closes, after what was written. */
  close(reason: CloseReason): void;
  /** Ends it now. */
  destroy(): void;
}
