// Typed proxies of the workers: all that web/ may import from workers/.

import type { SessionId } from "../shared/ids.ts";
import type { CommandMethod, Params, QueryMethod, Result } from "../shared/protocol/methods.ts";
import type { TextBody } from "../shared/protocol/rows.ts";
import type { BlockPatch, DocumentKey } from "./render/port.ts";
import { RenderProxy } from "./render/proxy.ts";
import { type Enrolment, type StorageFacts, type SyncMessage, scriptMissing } from "./sync/port.ts";
import { type SyncEnd, type SyncEvent, SyncProxy } from "./sync/proxy.ts";

export type { BlockPatch, DocumentKey } from "./render/port.ts";
export type {
  ConnectionState,
  Enrolment,
  LostBecause,
  OutboxEntry,
  StorageFacts,
  SyncMessage,
} from "./sync/port.ts";
/** What `value` and `failure` answer is settled inside; everything else is the listener's. */
export type { SyncEvent } from "./sync/proxy.ts";

export interface WorkersClient {
  /** Hears everything the sync worker says to this page, from the first message on. Call once. */
  listen(listener: (event: SyncEvent) => void): void;
  open(sessionId: SessionId): void;
  close(sessionId: SessionId): void;
  earlier(sessionId: SessionId): void;
  /** Rejects with a `Failure`; at once with `retryable: true` while there is no live connection. */
  query<M extends QueryMethod>(method: M, params: Params<M>): Promise<Result<M>>;
  /**
   * Stores the command in the outbox, sends it once there is a connection, and again after a lost one
   * (F5). Resolves with the daemon's answer, however late; rejects with the daemon's `Failure`.
   * `commandId` names what it makes (session, request) and is known before the answer.
   */
  command<M extends CommandMethod>(
    method: M,
    params: Params<M>,
  ): { commandId: string; answer: Promise<Result<M>> };
  /**
   * Takes back a command that still waits. True: it is never sent, and its `answer` never settles.
   * False: it is on its way or answered.
   */
  withdraw(commandId: string): Promise<boolean>;
  /**
   * Gives a command that still waits other params. True: it is sent with these. False, with nothing
   * changed: it is on its way or answered.
   */
  amend<M extends CommandMethod>(commandId: string, params: Params<M>): Promise<boolean>;
  /** What this page shows and someone can see; null: nothing, or the page is hidden. */
  look(sessionId: SessionId | null): void;
  storage(): Promise<StorageFacts>;
  /** What to keep of sessions that are not pinned: the last days, or with null all that fits. */
  keepDays(days: number | null): Promise<StorageFacts>;
  /** The whole of a text: from the row, from IndexedDB, else from the daemon. */
  text(body: TextBody): Promise<string>;
  saveDraft(sessionId: SessionId, text: string): void;
  enrol(enrolment: Enrolment): void;
  /** Shows a document's blocks until disposed; the first patch holds all blocks there are. */
  show(key: DocumentKey, listener: (patch: BlockPatch) => void): () => void;
  settle(key: DocumentKey, text: string): void;
}

export interface WorkersClientOptions {
  /** The secret of the link that opened this page. */
  readonly enrolment: Enrolment | null;
  /** What this browser calls itself among the devices. */
  readonly deviceName: string;
}

/** The render worker starts by itself after this, if nothing was to be rendered before. */
const RENDER_START_MS = 300;

/** Starts the workers. They end with the page. */
export function createWorkersClient(options: WorkersClientOptions): WorkersClient {
  const opened = new Set<SessionId>();
  let seen: SessionId | null = null;
  const render = new RenderProxy();
  const sync = startSync(() => attach(null));

  let release = () => {};

  const sayVisible = () => sync.post({ type: "visible", isVisible: isVisible() });
  const attach = (enrolment: Enrolment | null) => {
    release();
    const { port1, port2 } = new MessageChannel();
    render.attach(port2);
    const { deviceName } = options;
    sync.post({ type: "attach", renderPort: port1, enrolment, deviceName }, [port1]);
    sayVisible();
    for (const sessionId of opened) sync.post({ type: "open", sessionId });
    if (seen !== null) sync.post({ type: "look", sessionId: seen });
    release = holdLife((lock) => sync.post({ type: "alive", lock }));
  };
  attach(options.enrolment);
  setTimeout(() => render.start(), RENDER_START_MS);
  followLifecycle({
    wake: () => sync.post({ type: "wake" }),
    visible: sayVisible,
    left: () => {
      sync.post({ type: "detach" });
      release();
    },
    returned: () => attach(null),
  });

  return {
    listen: (listener) => sync.listen(listener),
    open(sessionId) {
      opened.add(sessionId);
      sync.post({ type: "open", sessionId });
    },
    close(sessionId) {
      opened.delete(sessionId);
      sync.post({ type: "close", sessionId });
    },
    earlier: (sessionId) => sync.post({ type: "earlier", sessionId }),
    query: (method, params) => sync.query(method, params),
    command: (method, params) => sync.command(method, params),
    withdraw: (commandId) => sync.withdraw(commandId),
    amend: (commandId, params) => sync.amend(commandId, params),
    look(sessionId) {
      if (sessionId === seen) return;
      seen = sessionId;
      sync.post({ type: "look", sessionId });
    },
    storage: () => sync.storage(),
    keepDays: (days) => sync.keepDays(days),
    text: (body) => sync.text(body),
    saveDraft: (sessionId, text) => sync.post({ type: "draft", sessionId, text }),
    enrol: (enrolment) => sync.post({ type: "enrol", enrolment }),
    show: (key, listener) => render.show(key, listener),
    settle: (key, text) => render.settle(key, text),
  };
}

/**
 * A worker may die before its page: a shared one with the page it was started for, one that led when
 * another took the lead. It says nothing then: the lock it held does. Another takes its place, or one that
 * lives gets another engine; `attach` attaches to that.
 */
function startSync(attach: () => void): SyncProxy {
  const open = () => {
    const { end, worker } = openSyncWorker();
    end.onmessage = ({ data }: MessageEvent<SyncMessage>) => sync.receive(data);
    worker.onerror = (event) => {
      // Errors of its own are ErrorEvents. This one: its script could not be had.
      if (!(event instanceof ErrorEvent)) sync.receive(scriptMissing());
    };
    return end;
  };
  const whenDead = (lock: string) => {
    void navigator.locks.request(lock, () => {
      sync.replace(open());
      succeeded();
    });
  };
  const succeeded = () => {
    attach();
    sync.askAgain();
  };
  const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
  const sync: SyncProxy = new SyncProxy(open(), randomBytes, { alive: whenDead, succeeded });
  return sync;
}

interface SyncWorker {
  readonly worker: AbstractWorker;
  readonly end: SyncEnd & { onmessage: ((event: MessageEvent) => void) | null };
}

/** One worker for all pages of this origin where the browser has such a thing, else one for each. */
function openSyncWorker(): SyncWorker {
  if ("SharedWorker" in globalThis) {
    const worker = new SharedWorker(new URL("./sync/entry.ts", import.meta.url), {
      type: "module",
      name: "troupe-sync",
    });
    return { worker, end: worker.port };
  }
  const worker = new Worker(new URL("./sync/entry.ts", import.meta.url), {
    type: "module",
    name: "troupe-sync",
  });
  return { worker, end: worker };
}

/**
 * A page that crashes says no goodbye, but the browser gives back its locks: the sync worker waits for
 * this one. Returns what gives it back. Where there are no locks (plain http on a network address),
 * only a goodbye counts.
 */
function holdLife(held: (lock: string) => void): () => void {
  if (!("locks" in navigator)) return () => {};
  const lock = `troupe-page-${crypto.randomUUID()}`;
  const life = new AbortController();
  const over = new Promise<void>((resolve) =>
    life.signal.addEventListener("abort", () => resolve()),
  );
  void navigator.locks.request(lock, () => {
    if (!life.signal.aborted) held(lock);
    return over;
  });
  return () => life.abort();
}

const isVisible = (): boolean => document.visibilityState === "visible";

interface LifecycleActions {
  /** Someone looks, or the network may be back. */
  wake(): void;
  /** That changed. */
  visible(): void;
  left(): void;
  /** The browser brought the page back as it was when it was left. */
  returned(): void;
}

function followLifecycle({ wake, visible, left, returned }: LifecycleActions): void {
  addEventListener("online", wake);
  document.addEventListener("visibilitychange", () => {
    visible();
    if (isVisible()) wake();
  });
  addEventListener("pagehide", left);
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    returned();
    wake();
  });
}
