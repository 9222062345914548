// Pages made once for all connections that stand at the same cursor and see the same: a commit wakes
// every one of them. They are encoded and packed once, too.

import { encode } from "../../shared/protocol/codec.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import { isBodyKind } from "../../shared/protocol/rows.ts";
import { tokenForViewer } from "../store/positions.ts";
import {
  EVERYTHING,
  type PageOfChanges,
  type Store,
  type StoredChange,
  type Visibility,
} from "../store/store.ts";
import { type Deflate, packEncoded } from "./pack-message.ts";
import type { Sight } from "./sight.ts";

/** More cursors than this are not read together by chance. */
const PAGES_KEPT = 8;
/** Who is so close to the head gets its page made from the one for all: little of it is read in vain. */
const NEAR_REVS = 64;

export type PageMessage = Extract<DaemonMessage, { type: "page" }>;

export interface FeedPage extends PageOfChanges {
  /** The same object for everyone: it is encoded once. */
  readonly message: PageMessage;
  /** The message packed, or as it is where that makes it no shorter. */
  packed(): Promise<DaemonMessage>;
}

/** What one connection is shown; as fresh as the page that brought it to where it stands. */
export type Shown = Pick<Sight, "visibility" | "hasRow">;

export type ReadPage = (after: number, shown: Shown) => Promise<FeedPage>;

/** A page is handed out until the feed moves on. */
export function makeSharedPages(store: Pick<Store, "page" | "head">, deflate: Deflate): ReadPage {
  const pages = new Map<number, Promise<FeedPage>>();
  let head = -1;

  const read = async (after: number, visibility: Visibility): Promise<FeedPage> => {
    return toFeedPage(await store.page(after, visibility), deflate);
  };

  const readForAll = (after: number): Promise<FeedPage> => {
    if (store.head !== head) {
      pages.clear();
      head = store.head;
    }
    const known = pages.get(after);
    if (known !== undefined) return known;
    const page = read(after, EVERYTHING);
    if (pages.size >= PAGES_KEPT) pages.clear();
    pages.set(after, page);
    page.catch(() => {
      if (pages.get(after) === page) pages.delete(after); // Its readers hear of it from the page.
    });
    return page;
  };

  return async (after, shown) => {
    const { visibility } = shown;
    const { viewer, leftOut } = visibility;
    if (viewer === null && leftOut.size === 0) return readForAll(after);
    if (store.head - after > NEAR_REVS) return read(after, visibility);
    const page = await readForAll(after);
    const { stored } = page;
    if (stored.some(({ kind, id }) => kind === "grant" && id === viewer)) {
      return read(after, visibility);
    }
    const visible = stored.filter((change) => isShown(change, after, shown));
    if (viewer === null && visible.length === stored.length) return page;
    return toFeedPage(narrowed(page, visible, viewer), deflate);
  };
}

function narrowed(
  page: FeedPage,
  stored: readonly StoredChange[],
  viewer: Visibility["viewer"],
): PageOfChanges {
  const { upto, more, granted } = page;
  const revs = new Set(stored.map(({ rev }) => rev));
  return {
    stored,
    get changes() {
      return page.changes.filter(({ rev }) => revs.has(rev));
    },
    upto,
    token: viewer === null ? page.token : tokenForViewer(page.token),
    more,
    granted,
  };
}

function toFeedPage(page: PageOfChanges, deflate: Deflate): FeedPage {
  const { stored, upto, token, more, granted } = page;
  const rest = { upto, token, more, leftOut: [...granted] };
  let message: PageMessage | null = null;
  let packing: Promise<DaemonMessage> | null = null;
  const feedPage: FeedPage = {
    stored,
    upto,
    token,
    more,
    granted,
    get changes() {
      return page.changes;
    },
    get message() {
      message ??= { type: "page", changes: [...page.changes], ...rest };
      return message;
    },
    packed() {
      packing ??= pack();
      return packing;
    },
  };
  const pack = async (): Promise<DaemonMessage> => {
    const plain = encode({ type: "page", changes: stored, ...rest });
    return (await packEncoded(plain, deflate)) ?? feedPage.message;
  };
  return feedPage;
}

/** Nothing of a session goes to a viewer that is older than its grant. */
function isShown({ kind, sessionId, id }: StoredChange, after: number, shown: Shown): boolean {
  const { viewer, leftOut } = shown.visibility;
  if (sessionId === null) return viewer === null || id === viewer;
  if (isBodyKind(kind)) return !leftOut.has(sessionId) && shown.hasRow(sessionId, after);
  return viewer === null || (kind === "session" && shown.hasRow(sessionId, after));
}
