// Puts the sync worker's parts together and serves the pages: rows from disk at once, from the feed as
// they come, commands to the outbox, chunks to the renderers.

import { assertNever } from "../../shared/assert-never.ts";
import type { CommandId, SessionId } from "../../shared/ids.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { LiveEvent } from "../../shared/protocol/live-events.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import { Calls } from "./calls.ts";
import { Engine } from "./engine.ts";
import type { LinkSurroundings } from "./link.ts";
import { type CommandOutcome, Outbox } from "./outbox.ts";
import type { ConnectionState, PageMessage, SyncMessage } from "./port.ts";
import { type Replica, ReplicaError, type WindowEdge } from "./replica.ts";
import { Streams } from "./streams.ts";
import { Tab } from "./tab.ts";
import { Texts } from "./texts.ts";

/** Requests that `open` and `earlier` send. */
const REQUESTS_PER_WINDOW = 30;

export interface SyncOptions {
  readonly around: LinkSurroundings;
  readonly replica: Replica;
  /** In [0, 1). */
  readonly random: () => number;
  readonly appVersion: string;
  /** Resolves once nobody holds this lock of a page any more. */
  readonly whenReleased: (lock: string) => Promise<void>;
  /** A fault that no page waits to hear of. */
  readonly report: (error: unknown) => void;
}

type Message<T extends PageMessage["type"]> = Extract<PageMessage, { type: T }>;

export class Sync {
  readonly #options: SyncOptions;
  readonly #engine: Engine;
  readonly #calls: Calls;
  readonly #streams: Streams;
  readonly #outbox: Outbox;
  readonly #texts: Texts;
  readonly #tabs = new Set<Tab>();
  /** Who asked for a command and is to hear how it ended. */
  readonly #askers = new Map<CommandId, { tab: Tab; id: number }>();
  /** What each session was last said to be doing. */
  readonly #doing = new Map<SessionId, string>();
  #isStarted = false;

  constructor(options: SyncOptions) {
    const { around, replica, random, appVersion, report } = options;
    this.#options = options;
    this.#engine = new Engine({ around, replica, random, appVersion, listener: this.#listener() });
    const send = this.#engine.send.bind(this.#engine);
    const isReady = () => this.#engine.isReady;
    this.#calls = new Calls(send);
    this.#streams = new Streams({
      send,
      forward: (sessionId, input) => {
        for (const tab of this.#tabs) if (tab.open.has(sessionId)) tab.render(input);
      },
    });
    this.#outbox = new Outbox({
      store: replica,
      clock: around.clock,
      call: (method, params, commandId) => this.#calls.call(method, params, commandId),
      isReady,
      changed: () => this.#tell(this.#outboxMessage()),
      settled: (commandId, outcome) => this.#settled(commandId, outcome),
      report,
    });
    this.#texts = new Texts({
      replica,
      clock: around.clock,
      readBlob: (params) => this.#calls.call("blob.read", params, null),
      isReady,
      hash: around.crypto.hash,
      report,
    });
  }

  /** A page came: gives what takes its messages. Its first has to be `attach`. */
  accept(post: (message: SyncMessage) => void): (message: PageMessage) => void {
    let tab: Tab | null = null;
    return (message) => {
      if (message.type === "attach") {
        if (tab !== null) this.#detach(tab);
        tab = new Tab(post, message.renderPort);
        this.#attach(tab, message);
      } else if (message.type === "detach") {
        if (tab !== null) this.#detach(tab);
        tab = null;
      } else if (message.type === "alive") {
        const alive = tab;
        const gone = () => {
          if (alive !== null) this.#detach(alive);
          if (tab === alive) tab = null;
        };
        this.#options.whenReleased(message.lock).then(gone, this.#options.report);
      } else if (tab !== null) this.#serve(tab, message);
    };
  }

  /** The database is gone for good. */
  storageFailed(error: unknown): void {
    this.#engine.storageFailed(error);
  }

  #listener() {
    return {
      connection: (state: ConnectionState, syncedAt: number | null) =>
        this.#tell({ type: "connection", state, syncedAt }),
      rows: (changes: Change[], reset: boolean) => this.#rows(changes, reset),
      live: (sessionId: SessionId, event: LiveEvent) => this.#live(sessionId, event),
      result: (id: number, value: unknown) => this.#calls.result(id, value),
      failure: (id: number, error: Failure["wire"]) => this.#calls.failure(id, error),
      ready: () => {
        this.#streams.ready();
        this.#loadOutbox();
      },
      lost: () => {
        this.#calls.lost();
        for (const sessionId of [...this.#doing.keys()]) {
          this.#live(sessionId, { type: "session.doing", doing: null });
        }
      },
      caughtUp: () => {
        this.#texts.prefetchSoon();
        for (const tab of this.#tabs) {
          for (const sessionId of tab.unread) this.#sendWindow(tab, sessionId, null);
        }
      },
      moved: () => {
        this.#streams.rows([], true);
        for (const tab of this.#tabs) {
          this.#sendRail(tab);
          for (const sessionId of tab.open.keys()) this.#sendWindow(tab, sessionId, null);
        }
      },
    };
  }

  #attach(tab: Tab, { deviceName, enrolment }: Message<"attach">): void {
    this.#tabs.add(tab);
    const { state, syncedAt } = this.#engine;
    tab.post({ type: "connection", state, syncedAt });
    tab.post(this.#outboxMessage());
    this.#sendRail(tab);
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.#engine.start(deviceName, enrolment);
      this.#loadOutbox();
    } else if (enrolment !== null) void this.#engine.enrol(enrolment);
  }

  #loadOutbox(): void {
    this.#outbox.load().catch(this.#options.report);
  }

  #detach(tab: Tab): void {
    if (!this.#tabs.has(tab)) return;
    for (const sessionId of [...tab.open.keys()]) this.#close(tab, sessionId);
    this.#tabs.delete(tab);
    for (const [commandId, asker] of this.#askers) {
      if (asker.tab === tab) this.#askers.delete(commandId);
    }
    tab.close();
  }

  #serve(tab: Tab, message: Exclude<PageMessage, { type: "attach" | "detach" | "alive" }>): void {
    switch (message.type) {
      case "open":
        this.#open(tab, message.sessionId);
        return;
      case "close":
        this.#close(tab, message.sessionId);
        return;
      case "earlier":
        this.#earlier(tab, message.sessionId);
        return;
      case "query":
        this.#answer(tab, message.id, this.#calls.call(message.method, message.params, null));
        return;
      case "command":
        this.#askers.set(message.commandId, { tab, id: message.id });
        void this.#outbox.add(message);
        return;
      case "withdraw":
        this.#answer(tab, message.id, this.#withdraw(message.commandId));
        return;
      case "text":
        this.#answer(tab, message.id, this.#texts.text(message.body));
        return;
      case "draft":
        this.#options.replica
          .saveDraft(message.sessionId, message.text)
          .catch(this.#options.report);
        return;
      case "wake":
        this.#engine.wake();
        return;
      case "enrol":
        void this.#engine.enrol(message.secret);
        return;
      default:
        assertNever(message);
    }
  }

  #sendRail(tab: Tab): void {
    this.#read(tab, async () => {
      const changes = await this.#options.replica.rail();
      return [{ type: "rows", changes, reset: true }, ...this.#doingMessages()];
    });
  }

  #open(tab: Tab, sessionId: SessionId): void {
    tab.open.set(sessionId, null);
    tab.unread.add(sessionId);
    for (const input of this.#streams.held(sessionId)) tab.render(input);
    this.#streams.watch(sessionId);
    this.#sendWindow(tab, sessionId, null);
  }

  #earlier(tab: Tab, sessionId: SessionId): void {
    const edge = tab.open.get(sessionId);
    if (edge !== undefined && edge !== null) this.#sendWindow(tab, sessionId, edge);
  }

  #sendWindow(tab: Tab, sessionId: SessionId, before: WindowEdge | null): void {
    const { replica } = this.#options;
    this.#read(tab, async () => {
      const [window, draft] = await Promise.all([
        replica.window(sessionId, REQUESTS_PER_WINDOW, before),
        replica.draft(sessionId),
      ]);
      if (!tab.open.has(sessionId)) return [];
      const { changes, found, earlier } = window;
      tab.open.set(sessionId, earlier);
      tab.unread.delete(sessionId);
      return [
        { type: "rows", changes, reset: false },
        { type: "opened", sessionId, found, hasEarlier: earlier !== null, draft },
      ];
    });
  }

  #close(tab: Tab, sessionId: SessionId): void {
    if (!tab.open.delete(sessionId)) return;
    tab.unread.delete(sessionId);
    for (const { key } of this.#streams.held(sessionId)) tab.render({ type: "end", key });
    const isOpen = [...this.#tabs].some((other) => other.open.has(sessionId));
    if (!isOpen) this.#streams.unwatch(sessionId);
  }

  #read(tab: Tab, read: () => Promise<SyncMessage[]>): void {
    tab.reading(read).catch((error: unknown) => {
      if (error instanceof ReplicaError) void this.#engine.rebuild();
      else this.#engine.storageFailed(error);
    });
  }

  #answer(tab: Tab, id: number, answering: Promise<unknown>): void {
    answering.then(
      (value) => tab.post({ type: "value", id, value }),
      (error: unknown) => {
        if (error instanceof Failure) tab.post({ type: "failure", id, error: error.wire });
        else {
          const message = "This browser could not read its copy.";
          const failure = { code: "storage_failed", message, retryable: false } as const;
          tab.post({ type: "failure", id, error: failure });
          this.#options.report(error);
        }
      },
    );
  }

  async #withdraw(commandId: CommandId): Promise<boolean> {
    const isWithdrawn = await this.#outbox.withdraw(commandId);
    if (isWithdrawn) this.#askers.delete(commandId);
    return isWithdrawn;
  }

  #settled(commandId: CommandId, outcome: CommandOutcome): void {
    const asker = this.#askers.get(commandId);
    this.#askers.delete(commandId);
    if (asker === undefined) return;
    const { tab, id } = asker;
    if (outcome.kind === "answered") tab.post({ type: "value", id, value: outcome.value });
    else tab.post({ type: "failure", id, error: outcome.error });
  }

  /** The page hears of a row before its renderer is told that the text has ended. */
  #rows(changes: Change[], reset: boolean): void {
    for (const tab of this.#tabs) tab.rows(changes, reset);
    this.#streams.rows(changes, reset);
    this.#texts.rows(changes);
  }

  #live(sessionId: SessionId, event: LiveEvent): void {
    switch (event.type) {
      case "turn.chunk":
        this.#streams.chunk(sessionId, event);
        return;
      case "session.doing":
        if (event.doing === null) this.#doing.delete(sessionId);
        else this.#doing.set(sessionId, event.doing);
        this.#tell({ type: "live", sessionId, event });
        return;
      case "tool.started":
        for (const tab of this.#tabs) {
          if (tab.open.has(sessionId)) tab.post({ type: "live", sessionId, event });
        }
        return;
      default:
        assertNever(event);
    }
  }

  #doingMessages(): SyncMessage[] {
    return [...this.#doing].map(([sessionId, doing]) => ({
      type: "live",
      sessionId,
      event: { type: "session.doing", doing },
    }));
  }

  #outboxMessage(): SyncMessage {
    return { type: "outbox", entries: this.#outbox.entries };
  }

  #tell(message: SyncMessage): void {
    for (const tab of this.#tabs) tab.post(message);
  }
}
