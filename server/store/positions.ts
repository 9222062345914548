// Tokens: they tell one history from another (F4).

import type { Kysely } from "kysely";
import type { DeviceId } from "../../shared/ids.ts";
import type { Tables } from "./tables.ts";

/** What a device that holds nothing has in place of a token. */
const FRESH_TOKEN = "";
/** Ends the tokens of pages that were made for a viewer: no secret has a dot. */
const VIEWER_MARK = ".viewer";

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
export async function tokenAt(
  db: Kysely<Tables>,
  head: number,
  viewer: DeviceId | null,
): Promise<string> {
  if (head === 0) return FRESH_TOKEN;
  const secret = await secretOf(db, head);
  if (secret === undefined) throw new Error(`No commit ends at rev ${head}`);
  const token = `${head}.${secret}`;
  return viewer === null ? token : tokenForViewer(token);
}

/** Of a page for a viewer, made from the state that an owner's page with `token` was made from. */
export const tokenForViewer = (token: string): string =>
  token === FRESH_TOKEN ? token : `${token}${VIEWER_MARK}`;

/** Whether this history has the state that a page with this cursor and token was made from. */
export async function knowsPosition(
  db: Kysely<Tables>,
  cursor: number,
  token: string,
  viewer: DeviceId | null,
): Promise<boolean> {
  if (cursor === 0) return token === FRESH_TOKEN;
  const [, digits, secret, mark] = /^(\d{1,16})\.([^.]+)(\.viewer)?$/.exec(token) ?? [];
  const head = Number(digits ?? 0);
  if (cursor > head || secret === undefined) return false;
  const isViewers = mark === VIEWER_MARK;
  return isViewers === (viewer !== null) && (await secretOf(db, head)) === secret;
}

async function secretOf(db: Kysely<Tables>, lastRev: number): Promise<string | undefined> {
  const query = db.selectFrom("commits").select("token").where("last_rev", "=", lastRev);
  return (await query.executeTakeFirst())?.token;
}
