// Pages made once for all connections that stand at the same cursor: a commit wakes every one of them.

import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import type { Store, Visibility } from "../store/store.ts";

/** More cursors than this are not read together by chance. */
const PAGES_KEPT = 8;

export interface FeedPage {
  readonly changes: readonly Change[];
  readonly upto: number;
  readonly more: number;
  /** The same object for everyone: it is encoded once. */
  readonly message: DaemonMessage;
}

export type ReadPage = (after: number, visibility: Visibility) => Promise<FeedPage>;

/** A page is handed out until the feed moves on. */
export function makeSharedPages(store: Pick<Store, "page" | "head">): ReadPage {
  const pages = new Map<string, Promise<FeedPage>>();
  let head = -1;

  const read = async (after: number, visibility: Visibility): Promise<FeedPage> => {
    const page = await store.page(after, visibility);
    const { changes, upto, token, more } = page;
    return { changes, upto, more, message: { type: "page", changes, upto, token, more } };
  };

  return (after, visibility) => {
    if (store.head !== head) {
      pages.clear();
      head = store.head;
    }
    const key = `${visibility.kind === "session" ? visibility.sessionId : ""}/${after}`;
    const known = pages.get(key);
    if (known !== undefined) return known;
    const page = read(after, visibility);
    if (pages.size >= PAGES_KEPT) pages.clear();
    pages.set(key, page);
    page.catch(() => {
      if (pages.get(key) === page) pages.delete(key); // Its readers hear of it from the page.
    });
    return page;
  };
}
