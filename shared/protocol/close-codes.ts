// Why the daemon closed a socket. The codes are part of the protocol: pinned by a test, never reused.

export const CLOSE_CODES = {
  /** Nothing is wrong; what was queued has been sent. */
  done: 1000,
  /** The admission said why. */
  refused: 4001,
  /** The first frames were no Noise handshake with this daemon. */
  handshakeFailed: 4002,
  /** The handshake took longer than HANDSHAKE_TIMEOUT_MS. */
  handshakeTooSlow: 4003,
  /** A frame did not authenticate or was not cut as frames are. */
  channelFailed: 4004,
  /** A text frame. */
  notBinary: 4005,
  /** Nothing came for HEARTBEATS_MISSED_MAX heartbeats. */
  silent: 4006,
  /** An `evicted` message said how far this reader was behind. */
  evicted: 4007,
  /** The device was revoked; a `failure` without id said so. */
  revoked: 4008,
  /** The daemon stops; it said `shuttingDown`. */
  shuttingDown: 4009,
} as const;

export type CloseReason = keyof typeof CLOSE_CODES;
