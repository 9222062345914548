// The migrations in order: the first makes schema version 1. Shipped ones are frozen.

import { feed } from "./0001-feed.ts";
import { rowsOfSessionByRev } from "./0002-rows-of-a-session-by-rev.ts";
import type { Migration } from "./migration.ts";

export const migrations: readonly Migration[] = [feed, rowsOfSessionByRev];
