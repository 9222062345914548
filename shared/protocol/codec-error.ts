/** Bytes that are no message, or a value that cannot be one. */
export class CodecError extends Error {
  override readonly name = "CodecError";

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}
