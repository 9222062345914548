// Why the daemon could not start, when the person who started it can do something about it.

export type StartErrorCode =
  | "folder_not_writable"
  | "folder_in_use"
  | "identity_unreadable"
  | "not_running";

export class StartError extends Error {
  override readonly name = "StartError";
  readonly code: StartErrorCode;

  constructor(code: StartErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}
