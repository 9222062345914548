// One daemon per data folder. The lock is the operating system's and goes with the process that holds
// it, so it never turns stale and nobody has to guess whether a process id is still the same program.

import { join } from "node:path";
import Database from "better-sqlite3";
import { StoreError } from "./store.ts";

/** Takes the folder for this process; null if another one has it. Returns what gives it back. */
export function lockFolder(path: string): (() => void) | null {
  let lock: Database.Database | null = null;
  try {
    lock = new Database(join(path, "daemon.lock"), { timeout: 0 });
    // Nothing is ever written to it: the open transaction is the lock.
    lock.exec("BEGIN EXCLUSIVE");
    const held = lock;
    return () => held.close();
  } catch (error) {
    lock?.close();
    if (error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY")) return null;
    throw new StoreError("not_writable", `Cannot lock the folder ${path}: ${error}`, error);
  }
}
