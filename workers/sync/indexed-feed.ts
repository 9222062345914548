// How pages and fills are written into IndexedDB, each in one transaction with the cursor, and how
// sessions are left out. What was stored for a session that is left out counts for nothing until its
// last part is in.

import * as z from "zod/mini";
import { applyChanges } from "../../shared/feed/apply-page.ts";
import type { SessionId } from "../../shared/ids.ts";
import { isBodyKind, sessionIdSchema } from "../../shared/protocol/rows.ts";
import { ask, type StoreName } from "./indexed-database.ts";
import { dropBodies, makeIndexedRowTarget } from "./indexed-row-target.ts";
import type { FillToStore, PageToStore, Position, Writer } from "./replica.ts";

type StoredPosition = Omit<Position, "leftOut">;

/** What `storePage` and `storeFill` need. */
export const FEED_STORES = [
  "sessions",
  "requests",
  "turns",
  "devices",
  "shares",
  "grants",
  "blobs",
  "wanted",
  "leftOut",
  "position",
] as const satisfies StoreName[];

const NOWHERE: StoredPosition = { epoch: null, cursor: 0, token: null, syncedAt: null, fills: 0 };

const positionSchema = z.object({
  epoch: z.nullable(z.string()),
  cursor: z.int(),
  token: z.nullable(z.string()),
  syncedAt: z.nullable(z.int()),
  fills: z.int(),
});
/** `fill`: the connection that fills it; `parts`: how many that has stored. */
const markSchema = z.object({
  sessionId: sessionIdSchema,
  fill: z.nullable(z.string()),
  parts: z.int(),
});
const stateSchema = z.object({ position: positionSchema, marks: z.array(markSchema) });
type Mark = z.infer<typeof markSchema>;

interface State {
  readonly position: StoredPosition;
  readonly marks: readonly Mark[];
}

export async function readPosition(tx: IDBTransaction): Promise<Position> {
  const { position, marks } = await readState(tx);
  return { ...position, leftOut: marks.map(({ sessionId }) => sessionId) };
}

/** If it cannot be read there is none: the daemon then sends everything anew. */
async function readState(tx: IDBTransaction): Promise<State> {
  const [position, marks] = await Promise.all([
    ask(tx.objectStore("position").get("position")),
    ask(tx.objectStore("leftOut").getAll()),
  ]);
  const parsed = stateSchema.safeParse({ position, marks });
  return parsed.success ? parsed.data : { position: NOWHERE, marks: [] };
}

function putPosition(tx: IDBTransaction, position: StoredPosition): void {
  tx.objectStore("position").put(position, "position");
}

function putMark(tx: IDBTransaction, mark: Mark): void {
  tx.objectStore("leftOut").put(mark, mark.sessionId);
}

/** All stores but these are cleared by then. */
export function startOver(tx: IDBTransaction, epoch: string, leftOut: readonly SessionId[]): void {
  putPosition(tx, { ...NOWHERE, epoch });
  for (const sessionId of leftOut) putMark(tx, { sessionId, fill: null, parts: 0 });
}

export function leaveOut(tx: IDBTransaction, sessionIds: Iterable<SessionId>): void {
  for (const sessionId of sessionIds) {
    putMark(tx, { sessionId, fill: null, parts: 0 });
    dropBodies(tx, sessionId);
  }
}

const isAsTaken = ({ epoch, fills }: StoredPosition, writer: Writer): boolean =>
  epoch === writer.epoch && fills === writer.fills;

export async function storePage(tx: IDBTransaction, page: PageToStore): Promise<boolean> {
  const { position, marks } = await readState(tx);
  const { cursor } = position;
  if (!isAsTaken(position, page) || cursor < page.base) return false;
  const leaving = leavingWith(page, cursor);
  const fillOf = new Map<SessionId | null, string | null>();
  for (const { sessionId, fill } of marks) fillOf.set(sessionId, fill);
  for (const sessionId of leaving) fillOf.set(sessionId, null);
  const isFilledHere = (sessionId: SessionId | null) => fillOf.get(sessionId) === page.connection;
  const changes = page.changes.filter(
    ({ kind, sessionId }) => !isBodyKind(kind) || !fillOf.has(sessionId) || isFilledHere(sessionId),
  );
  // A fill holds the session as of this connection's pages, however far another has come.
  const target = makeIndexedRowTarget(tx, (kind, sessionId) =>
    isBodyKind(kind) && isFilledHere(sessionId) ? 0 : cursor,
  );
  applyChanges(target, changes);
  await target.writeBodies();
  leaveOut(tx, await thereAmong(tx, leaving));
  if (page.upto >= cursor) {
    const { epoch, upto, token, at, fills } = page;
    putPosition(tx, { epoch, cursor: upto, token, syncedAt: at, fills });
  }
  return true;
}

/** A session that was just left may have been deleted before the page that says so. */
async function thereAmong(tx: IDBTransaction, sessionIds: SessionId[]): Promise<SessionId[]> {
  const sessions = tx.objectStore("sessions");
  const keys = await Promise.all(sessionIds.map((sessionId) => ask(sessions.getKey(sessionId))));
  return sessionIds.filter((_, index) => keys[index] !== undefined);
}

/** Not those that came with what is stored already: they may have been filled since. */
function leavingWith({ leftOut, changes }: PageToStore, cursor: number): SessionId[] {
  if (leftOut.length === 0) return [];
  const known = new Set(
    changes.flatMap(({ kind, id, rev }) => (kind === "session" && rev <= cursor ? [id] : [])),
  );
  return leftOut.filter((sessionId) => !known.has(sessionId));
}

export async function storeFill(tx: IDBTransaction, fill: FillToStore): Promise<boolean> {
  const { sessionId, connection, part, isLast } = fill;
  const [{ position, marks }, session] = await Promise.all([
    readState(tx),
    ask(tx.objectStore("sessions").getKey(sessionId)),
  ]);
  if (!isAsTaken(position, fill)) return false;
  const mark = marks.find((one) => one.sessionId === sessionId);
  // Deleted by a page that another worker stored, and that comes here as well.
  if (session === undefined && mark === undefined) return true;
  const stored = mark?.fill === connection ? mark.parts : 0;
  if (part > stored) return false;
  if (isLast && position.cursor !== fill.cursor) return false;
  if (part === 0) dropBodies(tx, sessionId);
  const target = makeIndexedRowTarget(tx, () => 0);
  applyChanges(target, fill.changes);
  await target.writeBodies();
  if (isLast) {
    tx.objectStore("leftOut").delete(sessionId);
    putPosition(tx, { ...position, fills: position.fills + 1 });
  } else
    putMark(tx, {
      sessionId,
      fill: connection,
      parts: part === 0 ? 1 : Math.max(stored, part + 1),
    });
  return true;
}
