// What a migration is.

import type { Kysely } from "kysely";

export interface Migration {
  /** Runs in a transaction of its own. */
  up(db: Kysely<unknown>, tools: { randomId: () => string }): Promise<void>;
}
