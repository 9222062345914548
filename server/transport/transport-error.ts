export type TransportErrorCode =
  /** Another program listens there. */
  | "port_taken"
  /** Ports below 1024 need rights that this user lacks. */
  | "port_forbidden"
  /** The name or address to listen on is none of this machine's. */
  | "bad_host"
  /** The Unix socket: another daemon answers on it. */
  | "socket_taken"
  /** The Unix socket cannot be made, or nobody answers on it. */
  | "socket_unusable"
  | "timed_out"
  | "closed";

export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly code: TransportErrorCode;

  constructor(code: TransportErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** The code Node gives to a failed system call; empty if it is none. */
export function systemCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
