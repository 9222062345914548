// Every cap and timeout that two sides know. Units are in the names.

const KIB = 1024;
const MIB = 1024 * KIB;

/** One whole message after decryption and reassembly. */
export const MESSAGE_MAX_BYTES = 64 * MIB;
/** A Noise message with its tag (Noise specification, section 3). */
export const NOISE_MESSAGE_MAX_BYTES = 65_535;
export const PAGE_MAX_ROWS = 512;
export const PAGE_MAX_BYTES = MIB;
export const BLOB_CHUNK_MAX_BYTES = 256 * KIB;
/** Text above this is a blob; its row carries the first TEXT_HEAD_MAX_BYTES. */
export const TEXT_INLINE_MAX_BYTES = 16 * KIB;
export const TEXT_HEAD_MAX_BYTES = 2 * KIB;
export const PROMPT_MAX_BYTES = MIB;
export const TOOL_OUTPUT_MAX_BYTES = 128 * KIB;
export const TOOL_LINE_MAX_BYTES = 64 * KIB;
export const READ_WINDOW_MAX_LINES = 2_000;
export const TITLE_MAX_CHARS = 200;
export const PATH_MAX_CHARS = 4_096;
export const TOOL_CALLS_PER_TURN_MAX = 128;

export const CONNECTIONS_MAX = 256;
export const CONNECTION_QUEUE_MAX_BYTES = 64 * MIB;
export const ALL_QUEUES_MAX_BYTES = 512 * MIB;
/** A connection gets its next page only below this many queued bytes. */
export const PAGE_QUEUE_LOW_BYTES = 2 * MIB;

export const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Each side sends something at least this often; three silent beats mean the socket is dead. */
export const HEARTBEAT_MS = 10_000;
export const HEARTBEATS_MISSED_MAX = 3;
/** Sessions that a device says it leaves out. */
export const LEFT_OUT_MAX = 100_000;
/** Sessions that a device says it looks at. */
export const LOOKS_MAX = 64;
/** Messages below this are not worth packing. */
export const PACK_MIN_BYTES = KIB;
export const SHARE_MAX_DAYS = 365;
export const LAUNCH_TOKEN_LIFETIME_MS = 10 * 60_000;
export const TOOL_TIMEOUT_MS = 60_000;
export const TURNS_PER_REQUEST_MAX = 64;
/** At most one chunk per stream and connection in this time. */
export const CHUNK_COALESCE_MS = 30;
/** How often a running stream's text is saved for crash recovery. */
export const STREAM_SAVE_MS = 1_000;
export const SHUTDOWN_MAX_MS = 5_000;
export const RECONNECT_MAX_MS = 30_000;
