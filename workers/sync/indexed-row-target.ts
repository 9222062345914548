// Where `applyChanges` writes in IndexedDB: requests are issued within the page's transaction and not
// waited for one by one. What is at or below the stored cursor is known already.

import { assertNever } from "../../shared/assert-never.ts";
import type { RowTarget } from "../../shared/feed/apply-page.ts";
import { blobsOfRow } from "../../shared/protocol/rows.ts";
import { ofSession } from "./indexed-database.ts";

export function makeIndexedRowTarget(tx: IDBTransaction, cursor: number): RowTarget {
  const sessions = tx.objectStore("sessions");
  const requests = tx.objectStore("requests");
  const turns = tx.objectStore("turns");
  const toolResults = tx.objectStore("toolResults");
  const devices = tx.objectStore("devices");
  const wanted = tx.objectStore("wanted");
  return {
    knownRev: () => cursor,
    put(change) {
      const { id } = change;
      switch (change.kind) {
        case "session":
          sessions.put(change, id);
          return;
        case "device":
          devices.put(change, id);
          return;
        case "request":
          requests.put(change, [change.sessionId, change.row.seq]);
          break;
        case "turn":
          turns.put(change, [change.sessionId, Number(id)]);
          break;
        case "toolResult":
          toolResults.put(change, [change.sessionId, change.row.turnId, change.row.callId]);
          break;
        default:
          assertNever(change);
      }
      const { sessionId } = change;
      for (const hash of blobsOfRow(change.row)) wanted.put({ sessionId, hash }, [sessionId, hash]);
    },
    remove(kind, sessionId, id) {
      switch (kind) {
        case "session":
          sessions.delete(id);
          return;
        case "device":
          devices.delete(id);
          return;
        case "request": {
          const found = requests.index("id").getKey(id);
          found.onsuccess = () => {
            if (found.result !== undefined) requests.delete(found.result);
          };
          return;
        }
        case "turn":
          if (sessionId !== null) turns.delete([sessionId, Number(id)]);
          return;
        case "toolResult":
          if (sessionId !== null) toolResults.delete(toolResultKey(sessionId, id));
          return;
        default:
          assertNever(kind);
      }
    },
    removeSession(sessionId) {
      sessions.delete(sessionId);
      for (const name of ["requests", "turns", "toolResults", "blobs", "wanted"] as const) {
        tx.objectStore(name).delete(ofSession(sessionId));
      }
    },
  };
}

/** Of the row id `turnId/callId`; a call id may hold slashes. */
function toolResultKey(sessionId: string, id: string): [string, number, string] {
  const slash = id.indexOf("/");
  return [sessionId, Number(id.slice(0, slash)), id.slice(slash + 1)];
}
