export type NoiseErrorCode =
  /** The bytes do not authenticate: garbage, tampering, a replay, or a peer with another key. */
  | "decrypt_failed"
  /** A public key of the wrong length, or one that makes every secret zero. */
  | "bad_key"
  /** Too short, too long, or not shaped as this step demands. */
  | "bad_message"
  | "too_large"
  /** Written when it was the other side's turn, or read when it was ours. Harms nothing. */
  | "out_of_turn"
  /** The nonces of this key are used up. */
  | "exhausted"
  /** An earlier failure ended this state for good. */
  | "dead";

export class NoiseError extends Error {
  override readonly name = "NoiseError";
  readonly code: NoiseErrorCode;

  constructor(code: NoiseErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
