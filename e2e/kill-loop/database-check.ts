// Looks at the database as a kill left it, on a copy, before any daemon has touched it again.

import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Ledger } from "./ledger.ts";

const FILE = "troupe.db";
const NOTHING_LEFT_OVER = [
  [
    "blobs that no row names",
    "select count(*) from blobs where hash not in (select hash from blob_refs)",
  ],
  [
    "rows whose blobs are not all there",
    `select count(*) from rows where blobs <> (select count(*) from blob_refs as refs
      where refs.kind = rows.kind and refs.session_id = rows.session_id and refs.id = rows.id)`,
  ],
  [
    "rows above the last commit",
    "select count(*) from rows where rev > (select max(last_rev) from commits)",
  ],
] as const;

export function checkDatabase(dataDir: string, ledger: Ledger): void {
  const folder = mkdtempSync(join(tmpdir(), "troupe-killed-"));
  try {
    for (const suffix of ["", "-wal"]) {
      const path = join(dataDir, FILE + suffix);
      if (existsSync(path)) copyFileSync(path, join(folder, FILE + suffix));
    }
    const db = new Database(join(folder, FILE));
    const found = JSON.stringify(db.pragma("integrity_check"));
    if (found !== '[{"integrity_check":"ok"}]') ledger.accuse(`[F8] the database: ${found}`);
    const dangling = JSON.stringify(db.pragma("foreign_key_check"));
    if (dangling !== "[]") ledger.accuse(`[F8] the database: ${dangling}`);
    for (const [what, query] of NOTHING_LEFT_OVER) {
      const count = db.prepare(query).pluck().get();
      if (count !== 0) ledger.accuse(`[F8] the database has ${count} ${what}`);
    }
    db.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
