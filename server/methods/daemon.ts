// daemon.*: what the local command line asks of a running daemon.

import type { Result } from "../../shared/protocol/methods.ts";
import { query } from "./entry.ts";

export interface DaemonFacts {
  status(): Result<"daemon.status">;
  /** A fresh launch link. */
  link(): Result<"daemon.link"> | Promise<Result<"daemon.link">>;
}

export const daemonMethods = (daemon: DaemonFacts) => ({
  "daemon.status": query("daemon.status", async () => daemon.status()),
  "daemon.link": query("daemon.link", async () => daemon.link()),
});
