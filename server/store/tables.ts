// The columns of the database as Kysely sees them. Made by migrations/.

/** All row kinds in one table: the feed is one index range scan, and a new kind needs only its schema. */
export interface RowsTable {
  kind: string;
  /** "" for rows of no session. */
  session_id: string;
  id: string;
  /** Order among the rows of one kind in a session. */
  ordinal: number;
  rev: number;
  /** Bytes of the encoded row before compression: what a page counts. */
  size: number;
  /** How many blobs the row refers to. */
  blobs: number;
  /** See body.ts; null: a tombstone. */
  body: Uint8Array | null;
}

/** One line per transaction that moved the head (F4). */
export interface CommitsTable {
  last_rev: number;
  token: string;
}

export interface CommandsTable {
  command_id: string;
  method: string;
  params_hash: string;
  answer: Uint8Array;
  device_id: string | null;
  at: number;
}

export interface BlobsTable {
  hash: string;
  size: number;
  body: Uint8Array;
}

export interface BlobRefsTable {
  hash: string;
  kind: string;
  session_id: string;
  id: string;
}

export interface DeviceCursorsTable {
  device_id: string;
  cursor: number;
}

export interface SavedStreamsTable {
  session_id: string;
  turn_id: number;
  parts: Uint8Array;
}

export interface MetaTable {
  key: string;
  value: string;
}

export interface Tables {
  rows: RowsTable;
  commits: CommitsTable;
  commands: CommandsTable;
  blobs: BlobsTable;
  blob_refs: BlobRefsTable;
  device_cursors: DeviceCursorsTable;
  saved_streams: SavedStreamsTable;
  meta: MetaTable;
}
