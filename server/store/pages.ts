// The feed as pages: changed rows above a cursor, in rev order, and the tokens that tell one history
// from another (F4).

import type { Kysely } from "kysely";
import { PAGE_MAX_BYTES, PAGE_MAX_ROWS } from "../../shared/limits.ts";
import { ROW_COLUMNS, toChange } from "./reads.ts";
import type { PageOfChanges, Visibility } from "./store.ts";
import type { Tables } from "./tables.ts";

/** What a device that holds nothing has in place of a token. */
const FRESH_TOKEN = "";

export async function latestRev(db: Kysely<Tables>): Promise<number> {
  const { rev } = await db
    .selectFrom("commits")
    .select(({ fn }) => fn.max("last_rev").as("rev"))
    .executeTakeFirstOrThrow();
  return rev ?? 0;
}

/**
 * Names the state that pages are made from: its head, and the secret of the commit that made it. A
 * page in mid-feed lacks the rows that moved beyond it, so it is only good for a history that has
 * this very state, however small the page's own cursor.
 */
async function tokenAt(db: Kysely<Tables>, head: number): Promise<string> {
  if (head === 0) return FRESH_TOKEN;
  const secret = await secretOf(db, head);
  if (secret === undefined) throw new Error(`No commit ends at rev ${head}`);
  return `${head}.${secret}`;
}

/** Whether this history has the state that a page with this cursor and token was made from. */
export async function knowsPosition(
  db: Kysely<Tables>,
  cursor: number,
  token: string,
): Promise<boolean> {
  if (cursor === 0) return token === FRESH_TOKEN;
  const [, digits, secret] = /^(\d{1,16})\.(.+)$/.exec(token) ?? [];
  const head = Number(digits ?? 0);
  return cursor <= head && secret !== undefined && (await secretOf(db, head)) === secret;
}

async function secretOf(db: Kysely<Tables>, lastRev: number): Promise<string | undefined> {
  const query = db.selectFrom("commits").select("token").where("last_rev", "=", lastRev);
  return (await query.executeTakeFirst())?.token;
}

/** `db` must see one state throughout: a transaction. */
export async function readPage(
  db: Kysely<Tables>,
  after: number,
  visibility: Visibility,
): Promise<PageOfChanges> {
  const head = await latestRev(db);
  const token = await tokenAt(db, head);
  const last = await lastRevOfPage(db, after, visibility);
  if (last === null) return { changes: [], upto: head, token, more: 0 };
  const entries = await visibleRows(db, after, visibility)
    .select(ROW_COLUMNS)
    .where("rev", "<=", last)
    .orderBy("rev")
    .execute();
  const { more } = await visibleRows(db, last, visibility)
    .select(({ fn }) => fn.countAll<number>().as("more"))
    .executeTakeFirstOrThrow();
  return { changes: entries.map(toChange), upto: more === 0 ? head : last, token, more };
}

/** As many rows as the limits allow, at least one. */
async function lastRevOfPage(
  db: Kysely<Tables>,
  after: number,
  visibility: Visibility,
): Promise<number | null> {
  const entries = await visibleRows(db, after, visibility)
    .select(["rev", "size"])
    .orderBy("rev")
    .limit(PAGE_MAX_ROWS)
    .execute();
  let last: number | null = null;
  let bytes = 0;
  for (const { rev, size } of entries) {
    bytes += size;
    if (last !== null && bytes > PAGE_MAX_BYTES) break;
    last = rev;
  }
  return last;
}

function visibleRows(db: Kysely<Tables>, after: number, visibility: Visibility) {
  const rows = db.selectFrom("rows").where("rev", ">", after);
  return visibility.kind === "everything"
    ? rows
    : rows.where("session_id", "=", visibility.sessionId);
}
