// What a method is told about who calls it, and how calls reach the methods.

import type { Peer } from "../transport/connection.ts";

export interface Call {
  readonly method: string;
  readonly params: unknown;
  /** Null for queries. */
  readonly commandId: string | null;
}

/**
 * Answers one call. Resolves with the result's value; rejects with a `Failure` for everything that a
 * caller can cause and with anything else only for a bug, which the caller of this reports as `internal`.
 */
export type Dispatch = (peer: Peer, call: Call) => Promise<unknown>;
