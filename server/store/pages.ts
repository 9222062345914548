// The feed as pages: changed rows above a cursor, in rev order, and the bodies of one session. First it
// is listed which rows go, by index and within bounds; only those are read.

import { type Kysely, sql } from "kysely";
import type { DeviceId, SessionId } from "../../shared/ids.ts";
import { PAGE_MAX_BYTES, PAGE_MAX_ROWS } from "../../shared/limits.ts";
import { BODY_KINDS, type Change } from "../../shared/protocol/rows.ts";
import { latestRev, tokenAt } from "./positions.ts";
import {
  ROW_COLUMNS,
  type RowColumns,
  toChange,
  toCheckedChange,
  toStoredChange,
} from "./reads.ts";
import type {
  BodiesRange,
  PageOfChanges,
  PartOfBodies,
  SessionChange,
  Visibility,
} from "./store.ts";
import type { Tables } from "./tables.ts";

/** How far one page looks for what is not left out: there it ends, even with nothing in it. */
const PASSED_OVER_MAX_REVS = 16 * PAGE_MAX_ROWS;

/** A row as far as it takes to decide whether it goes. */
interface Listed {
  readonly rev: number;
  readonly size: number;
}

/** Which rows go. */
interface Listing {
  readonly revs: readonly number[];
  /** Everything up to here is in, or is not to be seen. Null: there is nothing more. */
  readonly upto: number | null;
}

/** `db` must see one state throughout: a transaction. */
export async function readPage(
  db: Kysely<Tables>,
  after: number,
  visibility: Visibility,
): Promise<PageOfChanges> {
  const { viewer } = visibility;
  const head = await latestRev(db);
  const token = await tokenAt(db, head, viewer);
  const grants = viewer === null ? [] : await grantsOf(db, viewer);
  const { revs, upto: last } =
    viewer === null
      ? await listForOwner(db, after, { ...visibility, head })
      : await listForViewer(db, after, { ...visibility, viewer, grants });
  const upto = last ?? head;
  const entries = await rowsAt(db, revs);
  const granted = grants.filter(({ rev, isLive }) => isLive && rev > after && rev <= upto);
  const shown = viewer === null ? entries : await translated(db, entries);
  const stored = shown.map(toStoredChange);
  let changes: Change[] | null = null;
  return {
    stored,
    get changes() {
      changes ??= stored.map(toCheckedChange);
      return changes;
    },
    upto,
    token,
    more: head - upto,
    granted: granted.map(({ sessionId }) => sessionId),
  };
}

/** `db` must see one state throughout: a transaction. */
export async function readBodies(
  db: Kysely<Tables>,
  { sessionId, after, upto }: BodiesRange,
  viewer: DeviceId | null,
): Promise<PartOfBodies> {
  const head = await latestRev(db);
  if (viewer !== null && !(await isGranted(db, sessionId, viewer))) {
    return { changes: [], isLast: true, head };
  }
  const listed = await db
    .selectFrom("rows")
    .select(["rev", "size"])
    .where("session_id", "=", sessionId)
    .where("rev", ">", after)
    .where("rev", "<=", upto)
    .where("kind", "in", BODY_KINDS)
    .where("body", "is not", null)
    .orderBy("rev")
    .limit(PAGE_MAX_ROWS + 1)
    .execute();
  const { revs, upto: last } = fitting(listed);
  return { changes: (await rowsAt(db, revs)).map(toChange), isLast: last === null, head };
}

/** `db` must see one state throughout: a transaction. */
export async function sessionsAfter(
  db: Kysely<Tables>,
  rev: number,
): Promise<{ sessions: SessionChange[]; head: number }> {
  const head = await latestRev(db);
  const entries = await db
    .selectFrom("rows")
    .select(ROW_COLUMNS)
    .where("kind", "=", "session")
    .where("rev", ">", rev)
    .execute();
  const changes = entries.map(toChange);
  return { sessions: changes.filter((change) => change.kind === "session"), head };
}

export async function existingSessions(
  db: Kysely<Tables>,
  ids: readonly SessionId[],
): Promise<SessionId[]> {
  const entries = await db
    .selectFrom("rows")
    .select("session_id")
    .where("kind", "=", "session")
    .where("body", "is not", null)
    .where("session_id", "in", listOf(ids))
    .execute();
  return entries.map(({ session_id }) => session_id as SessionId);
}

async function listForOwner(
  db: Kysely<Tables>,
  after: number,
  { leftOut, head }: { leftOut: ReadonlySet<SessionId>; head: number },
): Promise<Listing> {
  const rows = db
    .selectFrom("rows")
    .select(["rev", "size"])
    .where("rev", ">", after)
    .orderBy("rev")
    .limit(PAGE_MAX_ROWS + 1);
  if (leftOut.size === 0) return fitting(await rows.execute());
  const horizon = after + PASSED_OVER_MAX_REVS;
  const listing = fitting(
    await rows
      .where("rev", "<=", horizon)
      .where(({ not, and, eb }) =>
        not(and([eb("kind", "in", BODY_KINDS), eb("session_id", "in", listOf([...leftOut]))])),
      )
      .execute(),
  );
  return listing.upto === null && horizon < head ? { ...listing, upto: horizon } : listing;
}

interface Grant {
  readonly sessionId: SessionId;
  readonly rev: number;
  readonly isLive: boolean;
}

interface ViewerOptions {
  readonly viewer: DeviceId;
  readonly leftOut: ReadonlySet<SessionId>;
  readonly grants: readonly Grant[];
}

/** Nothing of a session goes that is older than its grant: the grant brings what was there before. */
async function listForViewer(
  db: Kysely<Tables>,
  after: number,
  { viewer, leftOut, grants }: ViewerOptions,
): Promise<Listing> {
  const listed: Listed[] = await db
    .selectFrom("rows")
    .select(["rev", "size"])
    .where("kind", "=", "device")
    .where("session_id", "=", "")
    .where("id", "=", viewer)
    .where("rev", ">", after)
    .execute();
  for (const { sessionId, rev, isLive } of grants) {
    if (rev > after) listed.push({ rev, size: 0 });
    if (!isLive) continue;
    const from = Math.max(after, rev);
    if (rev > after || leftOut.has(sessionId)) {
      listed.push(...(await listSessionRow(db, sessionId, from)));
    } else listed.push(...(await listSession(db, sessionId, from)));
  }
  return fitting(listed.sort((a, b) => a.rev - b.rev));
}

function listSessionRow(db: Kysely<Tables>, sessionId: SessionId, after: number) {
  return db
    .selectFrom("rows")
    .select(["rev", "size"])
    .where("kind", "=", "session")
    .where("session_id", "=", sessionId)
    .where("id", "=", sessionId)
    .where("rev", ">", after)
    .execute();
}

function listSession(db: Kysely<Tables>, sessionId: SessionId, after: number) {
  return db
    .selectFrom("rows")
    .select(["rev", "size"])
    .where("session_id", "=", sessionId)
    .where("rev", ">", after)
    .where("kind", "in", ["session", ...BODY_KINDS])
    .orderBy("rev")
    .limit(PAGE_MAX_ROWS + 1)
    .execute();
}

/** As many as the limits of a page allow, at least one. */
function fitting(listed: readonly Listed[]): Listing {
  const revs: number[] = [];
  let bytes = 0;
  for (const { rev, size } of listed) {
    bytes += size;
    if (isFull(revs.length, bytes)) return { revs, upto: revs.at(-1) ?? null };
    revs.push(rev);
  }
  return { revs, upto: null };
}

/** Whether a row that makes it `bytes` is one too many for the `count` before. */
const isFull = (count: number, bytes: number): boolean =>
  count > 0 && (count >= PAGE_MAX_ROWS || bytes > PAGE_MAX_BYTES);

/** However many they are, it is one statement, prepared once. */
const listOf = <T extends string | number>(values: readonly T[]) =>
  sql<T>`(select value from json_each(${JSON.stringify(values)}))`;

async function rowsAt(db: Kysely<Tables>, revs: readonly number[]): Promise<RowColumns[]> {
  if (revs.length === 0) return [];
  return db
    .selectFrom("rows")
    .select(ROW_COLUMNS)
    .where("rev", "in", listOf(revs))
    .orderBy("rev")
    .execute();
}

/** A viewer's rows: what is a grant in the feed is the granted session to it. */
async function translated(
  db: Kysely<Tables>,
  entries: readonly RowColumns[],
): Promise<RowColumns[]> {
  const shown: RowColumns[] = [];
  for (const entry of entries) {
    if (entry.kind !== "grant") shown.push(entry);
    else if (entry.body === null) shown.push(asSession(entry, null));
    else {
      const session = await db
        .selectFrom("rows")
        .select(["size", "body"])
        .where("kind", "=", "session")
        .where("session_id", "=", entry.session_id)
        .where("id", "=", entry.session_id)
        .executeTakeFirst();
      if (session !== undefined) shown.push(asSession(entry, session));
    }
  }
  return shown;
}

const asSession = (
  { session_id, rev }: RowColumns,
  row: Pick<RowColumns, "size" | "body"> | null,
): RowColumns => ({
  kind: "session",
  session_id,
  id: session_id,
  rev,
  size: row?.size ?? 0,
  body: row?.body ?? null,
});

async function grantsOf(db: Kysely<Tables>, viewer: DeviceId): Promise<Grant[]> {
  const entries = await db
    .selectFrom("rows")
    .select(["session_id", "rev", sql<number>`body is not null`.as("is_live")])
    .where("kind", "=", "grant")
    .where("id", "=", viewer)
    .execute();
  return entries.map(({ session_id, rev, is_live }) => ({
    sessionId: session_id as SessionId,
    rev,
    isLive: is_live === 1,
  }));
}

async function isGranted(
  db: Kysely<Tables>,
  sessionId: SessionId,
  viewer: DeviceId,
): Promise<boolean> {
  const query = db
    .selectFrom("rows")
    .select("rev")
    .where("kind", "=", "grant")
    .where("session_id", "=", sessionId)
    .where("id", "=", viewer)
    .where("body", "is not", null);
  return (await query.executeTakeFirst()) !== undefined;
}
