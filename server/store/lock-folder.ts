// One daemon per data folder. The lock is the operating system's and goes with the process that holds
// it, so it never turns stale and nobody has to guess whether a process id is still the same program.

import { join } from "node:path";
import Database from "better-sqlite3";
import { StoreError } from "./store.ts";

/**
 * Takes the folder for this process; null if another one has it. Returns what gives it back. Throws
 * `StoreError` not_writable, or driver_unusable where SQLite itself does not load.
 */
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
    if (isDriverFault(error)) {
      const message = `SQLite's native part does not load in Node ${process.versions.node}`;
      throw new StoreError("driver_unusable", message, error);
    }
    throw new StoreError("not_writable", `Cannot lock the folder ${path}: ${error}`, error);
  }
}

/** Built for another Node or system, or never built. The driver has no code for the latter. */
function isDriverFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isForeign = "code" in error && error.code === "ERR_DLOPEN_FAILED";
  return isForeign || error.message.startsWith("Could not locate the bindings file");
}
