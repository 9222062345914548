// Typed proxies of the workers: all that web/ may import from workers/.

import type { SessionId } from "../shared/ids.ts";
import type { CommandMethod, Params, QueryMethod, Result } from "../shared/protocol/methods.ts";
import type { TextBody } from "../shared/protocol/rows.ts";
import type { BlockPatch, DocumentKey } from "./render/port.ts";
import { RenderProxy } from "./render/proxy.ts";
import type { SyncMessage } from "./sync/port.ts";
import { type SyncEnd, type SyncEvent, SyncProxy } from "./sync/proxy.ts";

export type { BlockPatch, DocumentKey } from "./render/port.ts";
export type { ConnectionState, LostBecause, OutboxEntry, SyncMessage } from "./sync/port.ts";
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
  /** The whole of a text: from the row, from IndexedDB, else from the daemon. */
  text(body: TextBody): Promise<string>;
  saveDraft(sessionId: SessionId, text: string): void;
  enrol(secret: string): void;
  /** Shows a document's blocks until disposed; the first patch holds all blocks there are. */
  show(key: DocumentKey, listener: (patch: BlockPatch) => void): () => void;
  settle(key: DocumentKey, text: string): void;
}

export interface WorkersClientOptions {
  /** The secret of the launch link that opened this page. */
  readonly enrolment: string | null;
  /** What this browser calls itself among the devices. */
  readonly deviceName: string;
}

/** The render worker starts by itself after this, if nothing was to be rendered before. */
const RENDER_START_MS = 300;

/** Starts the workers. They end with the page. */
export function createWorkersClient(options: WorkersClientOptions): WorkersClient {
  const opened = new Set<SessionId>();
  const render = new RenderProxy();
  const sync = startSync(() => attach(null));

  let release = () => {};

  const attach = (enrolment: string | null) => {
    release();
    const { port1, port2 } = new MessageChannel();
    render.attach(port2);
    const { deviceName } = options;
    sync.post({ type: "attach", renderPort: port1, enrolment, deviceName }, [port1]);
    for (const sessionId of opened) sync.post({ type: "open", sessionId });
    release = holdLife((lock) => sync.post({ type: "alive", lock }));
  };
  attach(options.enrolment);
  setTimeout(() => render.start(), RENDER_START_MS);
  followLifecycle({
    wake: () => sync.post({ type: "wake" }),
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
    text: (body) => sync.text(body),
    saveDraft: (sessionId, text) => sync.post({ type: "draft", sessionId, text }),
    enrol: (secret) => sync.post({ type: "enrol", secret }),
    show: (key, listener) => render.show(key, listener),
    settle: (key, text) => render.settle(key, text),
  };
}

/**
 * A shared worker may die with the page it was started for, and its ports say nothing: the lock it
 * held does. Then another takes its place; `replaced` attaches to it.
 */
function startSync(replaced: () => void): SyncProxy {
  const listen = (end: ReturnType<typeof openSyncWorker>) => {
    end.onmessage = ({ data }: MessageEvent<SyncMessage>) => sync.receive(data);
  };
  const whenDead = (lock: string) => {
    void navigator.locks.request(lock, () => {
      const successor = openSyncWorker();
      listen(successor);
      sync.replace(successor);
      replaced();
      sync.askAgain();
    });
  };
  const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
  const end = openSyncWorker();
  const sync = new SyncProxy(end, randomBytes, whenDead);
  listen(end);
  return sync;
}

/** One worker for all pages of this origin where the browser has such a thing, else one for this page. */
function openSyncWorker(): SyncEnd & { onmessage: ((event: MessageEvent) => void) | null } {
  if ("SharedWorker" in globalThis) {
    return new SharedWorker(new URL("./sync/entry.ts", import.meta.url), {
      type: "module",
      name: "troupe-sync",
    }).port;
  }
  return new Worker(new URL("./sync/entry.ts", import.meta.url), {
    type: "module",
    name: "troupe-sync",
  });
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
    held(lock);
    return over;
  });
  return () => life.abort();
}

interface LifecycleActions {
  /** Someone looks, or the network may be back. */
  wake(): void;
  left(): void;
  /** The browser brought the page back as it was when it was left. */
  returned(): void;
}

function followLifecycle({ wake, left, returned }: LifecycleActions): void {
  addEventListener("online", wake);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") wake();
  });
  addEventListener("pagehide", left);
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    returned();
    wake();
  });
}
