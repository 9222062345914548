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
import { Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { CommandMethod, Params } from "../../shared/protocol/methods.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import type {
  ConnectionState,
  OutboxEntry,
  SyncEvent,
  WorkersClient,
} from "../../workers/client.ts";
import type { Words } from "./error-words.ts";
import { createLiveFacts, type Opened } from "./live-facts.ts";
import {
  type ListedSession,
  listSessions,
  pendingPrompts,
  type Refusal,
  strayRefusals,
  underWay,
} from "./pending.ts";
import { createRowStore, type Rows } from "./rows.ts";
import { announcedConnection } from "./words.ts";

/** What there is to say: ready words, or what failed, to be put into words where it is shown. */
export type NoticeText = Words | Pick<WireError, "code">;

export interface Notice {
  readonly id: number;
  readonly text: NoticeText;
}

/** What is said aloud. An object of its own each time: the same words may have to be said again. */
export interface Announcement {
  readonly text: string;
}

export interface Workbench {
  readonly client: WorkersClient;
  readonly rows: Rows;
  readonly connection: Accessor<ConnectionState>;
  /** Nobody knows what goes on at the daemon now: what was running when it was last heard may not be. */
  readonly isCutOff: Accessor<boolean>;
  /** By the daemon's clock, as all times here. */
  readonly syncedAt: Accessor<number | null>;
  /** How far this device's clock is ahead of the daemon's, as far as is known. */
  readonly clockAheadMs: Accessor<number>;
  readonly outbox: Accessor<readonly OutboxEntry[]>;
  /** Rows with what is still on its way laid over, newest first. */
  readonly sessions: Accessor<readonly ListedSession[]>;
  /** What the daemon refused and no session's page shows. */
  readonly refusals: Accessor<readonly Refusal[]>;
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
  /** Names of the other devices at which someone sees this session now. */
  lookers(sessionId: SessionId): readonly string[];
  /** True: this browser was let in to read what was shared with it, and nothing else. */
  readonly isViewer: Accessor<boolean>;
  /** Whose sessions these are; null until the daemon said so to this page. */
  readonly daemonName: Accessor<string | null>;
  /** What stands unsent in the session's box: as this page last left it, else as the device kept it. */
  draft(sessionId: SessionId): string;
  saveDraft(sessionId: SessionId, text: string): void;
  open(sessionId: SessionId): void;
  close(sessionId: SessionId): void;
  /**
   * Sends a command and returns the id of what it makes. A failure becomes a notice; a prompt's stays with
   * the prompt, in the outbox.
   */
  run<M extends CommandMethod>(method: M, params: Params<M>): string;
  /** Takes back a command that still waits, or forgets one that was refused. A failure becomes a notice. */
  withdraw(commandId: string): void;
  /** Gives a command that still waits other params. False: too late, and nothing changed. */
  amend<M extends CommandMethod>(commandId: string, params: Params<M>): Promise<boolean>;
  /** Shows words until they are dismissed. */
  notify(text: NoticeText): void;
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

const NOTICES_MAX = 3;

function makeNotices() {
  const [notices, setNotices] = createSignal<readonly Notice[]>([]);
  let lastId = 0;
  const keyOf = (text: NoticeText) => ("code" in text ? text.code : text.what);
  const notify = (text: NoticeText) => {
    lastId += 1;
    const notice = { id: lastId, text };
    const others = (held: readonly Notice[]) =>
      held.filter((other) => keyOf(other.text) !== keyOf(text));
    setNotices((held) => [...others(held), notice].slice(-NOTICES_MAX));
  };
  return {
    notices,
    notify,
    add: (error: unknown) =>
      notify({ code: error instanceof Failure ? error.wire.code : "internal" }),
    dismiss: (id: number) => setNotices((held) => held.filter((notice) => notice.id !== id)),
  };
}

const countRefused = (entries: readonly OutboxEntry[]): number =>
  entries.length - underWay(entries).length;

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
  const onOutbox = (entries: readonly OutboxEntry[]) => {
    const before = untrack(outbox);
    setOutbox(entries);
    // What was refused earlier is there to be read; what is refused now has to be said.
    if (untrack(hasRows) && countRefused(entries) > countRefused(before))
      announce("A prompt was refused.");
  };
  const onEvent = (event: SyncEvent) => {
    switch (event.type) {
      case "connection":
        return onConnection(event);
      case "rows":
        return onRows(event);
      case "opened":
        store.settle(event.sessionId);
        return live.onOpened(event);
      case "live":
        return live.onLive(event);
      case "outbox":
        onOutbox(event.entries);
        return;
      default:
        assertNever(event);
    }
  };
  client.listen((event) => batch(() => onEvent(event)));
  return { store, live, status, outbox, hasRows, announcement, announce };
}

/** What the daemon said of this device last, or what the rows it may see tell of it (F9). */
function createStanding(
  state: Accessor<ConnectionState>,
  { rows, hasRows }: { rows: Rows; hasRows: Accessor<boolean> },
) {
  const isKnownViewer = createMemo<boolean | null>((before) => {
    const now = state();
    if (now.kind === "live") return now.role === "viewer";
    const roles = Object.values(rows.device).map(({ role }) => role);
    // A viewer sees no device but itself.
    return roles.length === 0 ? before : roles.every((role) => role === "viewer");
  }, null);
  const daemonName = createMemo<string | null>((before) => {
    const now = state();
    return now.kind === "live" ? now.daemonName : before;
  }, null);
  const clockAheadMs = createMemo<number>((before) => {
    const now = state();
    return now.kind === "live" ? now.clockAheadMs : before;
  }, 0);
  return { isViewer: () => isKnownViewer() ?? hasRows(), daemonName, clockAheadMs };
}

/** Starts listening to `client`. Lives as long as the page; call under a reactive root. */
export function createWorkbench(client: WorkersClient): Workbench {
  const { store, live, status, ...heard } = createHearing(client);
  const { rows } = store;
  const { facts } = live;
  const { notices, notify, add, dismiss } = makeNotices();
  const connection = () => status().state;
  const standing = createStanding(connection, { rows, hasRows: heard.hasRows });
  const sessions = createMemo<ListedSession[]>((before) => {
    const coming = before.filter(({ id, state }) => state === "waiting" && facts.making[id]);
    const all = listSessions(rows.session, heard.outbox(), {
      coming,
      clockAheadMs: standing.clockAheadMs(),
    });
    return all.filter(({ id }) => !facts.deleting[id]);
  }, []);
  const typed = new Map<SessionId, string>();
  return {
    ...heard,
    client,
    rows,
    connection,
    isCutOff: createMemo(() => !["live", "catching-up"].includes(connection().kind)),
    ...standing,
    syncedAt() {
      const { syncedAt } = status();
      return syncedAt === null ? null : syncedAt - standing.clockAheadMs();
    },
    sessions,
    refusals: createMemo(() => strayRefusals(heard.outbox(), sessions())),
    notices,
    notify,
    isMaking: (sessionId) => facts.making[sessionId] ?? false,
    doing: (sessionId) => facts.doing[sessionId] ?? null,
    isStarted: (sessionId, callRowId) => facts.started[sessionId]?.[callRowId] ?? false,
    opened: (sessionId) => facts.opened[sessionId] ?? null,
    lookers(sessionId) {
      // Said of the connection that is gone: nobody knows until there is another.
      if (connection().kind !== "live") return [];
      const ids = facts.lookers[sessionId] ?? [];
      return ids.map((id) => rows.device[id]?.name ?? "another device");
    },
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
        // A prompt's stays with it, and is the same for one whose session could not be made.
        const isTold = pendingPrompts(heard.outbox(), commandId).length > 0;
        if (method !== "session.prompt" && !isTold) add(error);
        takeBack();
      });
      return commandId;
    },
    withdraw(commandId) {
      client.withdraw(commandId).catch(add);
    },
    amend: (commandId, params) =>
      client.amend(commandId, params).catch((error: unknown) => {
        add(error);
        return false;
      }),
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
