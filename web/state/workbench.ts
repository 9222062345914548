// What the page knows and what it can ask for: rows, connection, outbox and live hints from the sync
// worker, and commands whose failures are put into words. One per page, handed down as a context.

import {
  type Accessor,
  batch,
  createContext,
  createMemo,
  createSignal,
  untrack,
  useContext,
} from "solid-js";
import { assertNever } from "../../shared/assert-never.ts";
import type { SessionId } from "../../shared/ids.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { CommandMethod, Params } from "../../shared/protocol/methods.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import type {
  ConnectionState,
  OutboxEntry,
  SyncEvent,
  WorkersClient,
} from "../../workers/client.ts";
import { createLiveFacts, type Opened } from "./live-facts.ts";
import { type ListedSession, listSessions } from "./pending.ts";
import { createRowStore, type Rows } from "./rows.ts";
import { announcedConnection, wordsFor } from "./words.ts";

export interface Notice {
  readonly id: number;
  readonly what: string;
  readonly todo: string;
}

/** What is said aloud. An object of its own each time: the same words may have to be said again. */
export interface Announcement {
  readonly text: string;
}

export interface Workbench {
  readonly client: WorkersClient;
  readonly rows: Rows;
  readonly connection: Accessor<ConnectionState>;
  readonly syncedAt: Accessor<number | null>;
  readonly outbox: Accessor<readonly OutboxEntry[]>;
  /** Rows with what is still on its way laid over, newest first. */
  readonly sessions: Accessor<readonly ListedSession[]>;
  /** True once the replica on this device has been read. */
  readonly hasRows: Accessor<boolean>;
  readonly announcement: Accessor<Announcement>;
  readonly notices: Accessor<readonly Notice[]>;
  /** True while a session that this page asked for is still to come. */
  isMaking(sessionId: SessionId): boolean;
  doing(sessionId: SessionId): string | null;
  isStarted(sessionId: SessionId, callRowId: string): boolean;
  /** Null until the sync worker has sent what it holds; another object after each `earlier`. */
  opened(sessionId: SessionId): Opened | null;
  /** What stands unsent in the session's box: as this page last left it, else as the device kept it. */
  draft(sessionId: SessionId): string;
  saveDraft(sessionId: SessionId, text: string): void;
  open(sessionId: SessionId): void;
  close(sessionId: SessionId): void;
  /** Sends a command and returns the id of what it makes. A failure becomes a notice. */
  run<M extends CommandMethod>(method: M, params: Params<M>): string;
  /** Takes back a command that still waits; nothing if it is on its way. A failure becomes a notice. */
  withdraw(commandId: string): void;
  announce(text: string): void;
  dismiss(noticeId: number): void;
}

const ENDED_WORDS: Partial<Record<string, string>> = {
  done: "Answer finished.",
  failed: "The request failed.",
  interrupted: "The request was interrupted.",
  cancelled: "Stopped.",
};

/** What a screen reader hears of these changes, given what was held before them. */
function announcedChange(rows: Rows, changes: readonly Change[]): string | null {
  for (const change of changes) {
    if (change.kind !== "request" || change.row === null) continue;
    const before = rows.request[change.sessionId]?.[change.id];
    if (before?.state !== "running") continue;
    const words = ENDED_WORDS[change.row.state];
    if (words) return words;
  }
  return null;
}

function makeNotices() {
  const [notices, setNotices] = createSignal<readonly Notice[]>([]);
  let lastId = 0;
  return {
    notices,
    add(error: unknown) {
      const words =
        error instanceof Failure ? wordsFor(error.wire) : wordsFor({ code: "internal" });
      lastId += 1;
      const notice = { id: lastId, ...words };
      setNotices((held) => [...held.filter(({ what }) => what !== words.what), notice].slice(-3));
    },
    dismiss: (id: number) => setNotices((held) => held.filter((notice) => notice.id !== id)),
  };
}

/** Hears the sync worker out and keeps what it says. */
function createHearing(client: WorkersClient) {
  const store = createRowStore();
  const live = createLiveFacts();
  const [status, setStatus] = createSignal<{ state: ConnectionState; syncedAt: number | null }>({
    state: { kind: "connecting" },
    syncedAt: null,
  });
  const [outbox, setOutbox] = createSignal<readonly OutboxEntry[]>([]);
  const [hasRows, setHasRows] = createSignal(false);
  const [announcement, setAnnouncement] = createSignal<Announcement>({ text: "" });
  const announce = (text: string) => setAnnouncement({ text });

  const onConnection = (event: Extract<SyncEvent, { type: "connection" }>) => {
    const before = untrack(status).state;
    setStatus(event);
    const words = announcedConnection(event.state);
    if (words !== null && before.kind !== event.state.kind) announce(words);
    if (event.state.kind === "offline") live.onOffline();
  };
  const onRows = (event: Extract<SyncEvent, { type: "rows" }>) => {
    const words = announcedChange(store.rows, event.changes);
    store.apply(event.changes, event.reset);
    setHasRows(true);
    if (words !== null) announce(words);
  };
  const onEvent = (event: SyncEvent) => {
    switch (event.type) {
      case "connection":
        return onConnection(event);
      case "rows":
        return onRows(event);
      case "opened":
        return live.onOpened(event);
      case "live":
        return live.onLive(event);
      case "outbox":
        setOutbox(event.entries);
        return;
      default:
        assertNever(event);
    }
  };
  client.listen((event) => batch(() => onEvent(event)));
  return { store, live, status, outbox, hasRows, announcement, announce };
}

/** Starts listening to `client`. Lives as long as the page; call under a reactive root. */
export function createWorkbench(client: WorkersClient): Workbench {
  const { store, live, status, ...heard } = createHearing(client);
  const { rows } = store;
  const { facts } = live;
  const { notices, add, dismiss } = makeNotices();
  const sessions = createMemo<ListedSession[]>((before) => {
    const coming = before.filter(({ id, state }) => state === "waiting" && facts.making[id]);
    const all = listSessions(rows.session, heard.outbox(), coming);
    return all.filter(({ id }) => !facts.deleting[id]);
  }, []);
  const typed = new Map<SessionId, string>();
  return {
    ...heard,
    client,
    rows,
    connection: () => status().state,
    syncedAt: () => status().syncedAt,
    sessions,
    notices,
    isMaking: (sessionId) => facts.making[sessionId] ?? false,
    doing: (sessionId) => facts.doing[sessionId] ?? null,
    isStarted: (sessionId, callRowId) => facts.started[sessionId]?.[callRowId] ?? false,
    opened: (sessionId) => facts.opened[sessionId] ?? null,
    draft: (sessionId) => typed.get(sessionId) ?? facts.opened[sessionId]?.draft ?? "",
    saveDraft(sessionId, text) {
      typed.set(sessionId, text);
      client.saveDraft(sessionId, text);
    },
    open: (sessionId) => client.open(sessionId),
    close(sessionId) {
      client.close(sessionId);
      batch(() => {
        store.close(sessionId);
        live.onClosed(sessionId);
      });
    },
    run(method, params) {
      const { commandId, answer } = client.command(method, params);
      const takeBack = live.paintAhead(method, params, commandId);
      answer.catch((error: unknown) => {
        add(error);
        takeBack();
      });
      return commandId;
    },
    withdraw(commandId) {
      client.withdraw(commandId).catch(add);
    },
    dismiss,
  };
}

const WorkbenchContext = createContext<Workbench>();
export const WorkbenchProvider = WorkbenchContext.Provider;

export function useWorkbench(): Workbench {
  const workbench = useContext(WorkbenchContext);
  if (!workbench) throw new Error("useWorkbench was called outside WorkbenchProvider");
  return workbench;
}
