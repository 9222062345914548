// What both sides must agree on before anything else.

export const PROTOCOL_VERSION = 1;
/** The WebSocket subprotocol. */
export const SUBPROTOCOL = "troupe.1";
/** The Noise prologue: a peer that speaks another protocol fails the handshake. */
export const NOISE_PROLOGUE = "troupe/1";
/** The daemon's port unless told otherwise. */
export const DEFAULT_PORT = 4780;
