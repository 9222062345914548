// Run as a process of its own, to be killed: writes to a store without end and says on stdout what is
// durable, one head a line, and when it is in the middle of a transaction.

import { randomBytes } from "node:crypto";
import { systemClock } from "../clock.ts";
import { openSqliteStore } from "../store/sqlite-store.ts";
import { plainText, sampleSessionId, sampleTurn } from "./sample-rows.ts";
import { silentLog } from "./silent-log.ts";

export const KILLED_SESSION = sampleSessionId("killed");
/** Rows of each transaction. */
export const ROWS_PER_WRITE = 5;

export async function writeUntilKilled(path: string): Promise<never> {
  const store = await openSqliteStore({ path, clock: systemClock, randomBytes, log: silentLog });
  for (let write = 1; ; write += 1) {
    const { head } = await store.write(async (tx) => {
      for (let id = 1; id <= ROWS_PER_WRITE; id += 1) {
        const answer = plainText(`write ${write}`);
        await tx.put("turn", KILLED_SESSION, String(id), sampleTurn({ answer }));
        if (id === 3) process.stdout.write("inside\n");
      }
    });
    process.stdout.write(`${head}\n`);
  }
}
