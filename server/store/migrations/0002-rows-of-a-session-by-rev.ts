// One session's rows in rev order: what a viewer's page and the filling of a session read.

import type { Migration } from "./migration.ts";

export const rowsOfSessionByRev: Migration = {
  async up({ schema }): Promise<void> {
    await schema
      .createIndex("rows_by_session_rev")
      .on("rows")
      .columns(["session_id", "rev"])
      .execute();
  },
};
