// Puts the sync worker's parts together and serves the pages: rows from disk at once, from the feed as
// they come, commands to the outbox, chunks to the renderers, and what they open is fetched if it is left out.

import { assertNever } from "../../shared/assert-never.ts";
import type { CommandId, SessionId } from "../../shared/ids.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import { Calls } from "./calls.ts";
import { DraftKeeper } from "./drafts.ts";
import { Engine, type EngineListener } from "./engine.ts";
import type { FetchAim } from "./feed-intake.ts";
import { Hints } from "./hints.ts";
import { Keeping, type Storage } from "./keeping.ts";
import type { LinkSurroundings } from "./link.ts";
import { type CommandOutcome, Outbox } from "./outbox.ts";
import type { PageMessage, SyncMessage } from "./port.ts";
import type { Replica, WindowEdge } from "./replica.ts";
import { Streams } from "./streams.ts";
import { Tab } from "./tab.ts";
import { Texts } from "./texts.ts";

/** Requests that `open` and `earlier` send. */
const REQUESTS_PER_WINDOW = 30;

const CATCH_UP_MS = 1_000;

export interface SyncOptions {
  readonly around: LinkSurroundings;
  readonly replica: Replica;
  readonly storage: Storage;
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
  readonly #drafts: DraftKeeper;
  readonly #keeping: Keeping;
  readonly #hints: Hints;
  readonly #tabs = new Set<Tab>();
  /** Who asked for a command and is to hear how it ended. */
  readonly #askers = new Map<CommandId, { tab: Tab; id: number }>();
  #isStarted = false;

  constructor(options: SyncOptions) {
    const { around, replica, storage, random, appVersion, report } = options;
    const { clock } = around;
    this.#options = options;
    const makeRoom = () => this.#keeping.makeRoom();
    const listener = this.#listener();
    this.#engine = new Engine({ around, replica, random, appVersion, makeRoom, listener });
    const send = this.#engine.send.bind(this.#engine);
    const isReady = () => this.#engine.isReady;
    this.#calls = new Calls(send);
    this.#hints = new Hints(this.#tabs, send);
    this.#drafts = new DraftKeeper({ store: replica, clock, makeRoom, report });
    this.#keeping = new Keeping({
      replica,
      storage,
      clock,
      feed: () => this.#engine.feed,
      isOpen: (sessionId) => this.#tabsWith(sessionId).length > 0,
      rechoose: () => this.#engine.rechoose(),
      report,
    });
    this.#streams = new Streams({
      send,
      forward: (sessionId, input) => {
        for (const tab of this.#tabs) if (tab.open.has(sessionId)) tab.render(input);
      },
    });
    this.#outbox = new Outbox({
      store: replica,
      clock,
      call: (method, params, commandId) => this.#calls.call(method, params, commandId),
      isReady,
      makeRoom,
      isAwaited: (commandId) => this.#askers.has(commandId),
      changed: () => this.#tell(this.#outboxMessage()),
      settled: (commandId, outcome) => this.#settled(commandId, outcome),
      report,
    });
    this.#texts = new Texts({
      replica,
      clock,
      readBlob: (params) => this.#calls.call("blob.read", params, null),
      isReady,
      makeRoom,
      hasSpareRoom: () => this.#keeping.hasSpareRoom(),
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
        tab = new Tab(post, message.renderPort, this.#options.around.clock);
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

  #listener(): EngineListener {
    return {
      connection: (state, syncedAt) => this.#tell({ type: "connection", state, syncedAt }),
      rows: (changes, reset) => this.#rows(changes, reset),
      live: (sessionId, event) => {
        if (event.type === "turn.chunk") this.#streams.chunk(sessionId, event);
        else this.#hints.live(sessionId, event);
      },
      result: (id, value) => this.#calls.result(id, value),
      failure: (id, error) => this.#calls.failure(id, error),
      ready: () => this.#ready(),
      lost: () => {
        this.#calls.lost();
        this.#hints.lost();
      },
      caughtUp: () => {
        this.#texts.prefetchSoon();
        this.#keeping.tendSoon();
        for (const tab of this.#tabs) {
          for (const sessionId of tab.unread) this.#sendWindow(tab, sessionId, null);
          // After starting over, what was left out before may have come with the feed.
          for (const sessionId of tab.partial) {
            if (!this.#engine.feed?.leftOut.has(sessionId)) this.#sendWindow(tab, sessionId, null);
          }
        }
      },
      cameLeftOut: (sessionIds) => {
        for (const sessionId of sessionIds) this.#sendWindows(sessionId);
      },
      fetched: (sessionId, aim) => this.#fetched(sessionId, aim),
      outOfRoom: (sessionIds) => this.#keeping.outOfRoom(sessionIds),
      moved: () => {
        this.#streams.rows([], true);
        this.#sendAll(() => true);
      },
      storedLate: () => {
        // What is left out is not on disk in any case.
        const leftOut = this.#engine.feed?.leftOut;
        this.#sendAll((sessionId) => leftOut?.has(sessionId) !== true);
      },
    };
  }

  #ready(): void {
    this.#streams.ready();
    this.#hints.ready();
    this.#loadOutbox();
    for (const sessionId of this.#engine.feed?.leftOut ?? []) {
      if (this.#tabsWith(sessionId).length > 0) this.#want(sessionId);
    }
  }

  #fetched(sessionId: SessionId, aim: FetchAim): void {
    this.#keeping.fetched(sessionId, aim);
    this.#texts.prefetchSoon();
    if (aim !== "show") {
      this.#sendWindows(sessionId);
      return;
    }
    // Its rows went to the pages as they came; there is nothing of it on disk.
    for (const tab of this.#tabsWith(sessionId)) {
      this.#read(tab, async () => {
        const draft = await this.#drafts.read(sessionId);
        const opened = { type: "opened", sessionId, found: true, isWhole: true, draft } as const;
        return [{ ...opened, hasEarlier: false }];
      });
    }
  }

  /** Whether another worker made whole what this connection is not sent. */
  #isMissed(sessionId: SessionId): boolean {
    const { feed } = this.#engine;
    return feed?.leftOut.has(sessionId) === true && feed.aimOf(sessionId) === undefined;
  }

  /** Not at once: two workers that wait for the same session would take it from each other without end. */
  #catchUpSoon(sessionId: SessionId): void {
    const { around, random } = this.#options;
    around.clock.after(CATCH_UP_MS * (1 + random()), () => {
      const isOpen = this.#tabsWith(sessionId).length > 0;
      if (isOpen && this.#isMissed(sessionId)) void this.#engine.rechoose();
    });
  }

  #want(sessionId: SessionId): void {
    this.#keeping.want(sessionId).catch((error) => this.#engine.storageFailed(error));
  }

  #tabsWith(sessionId: SessionId): Tab[] {
    return [...this.#tabs].filter((tab) => tab.open.has(sessionId));
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
    else if (this.#engine.state.kind === "refused") this.#engine.wake();
  }

  #loadOutbox(): void {
    this.#outbox.load().catch(this.#options.report);
  }

  #detach(tab: Tab): void {
    if (!this.#tabs.has(tab)) return;
    for (const sessionId of [...tab.open.keys()]) this.#close(tab, sessionId);
    this.#tabs.delete(tab);
    this.#hints.look();
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
      case "amend":
        this.#answer(tab, message.id, this.#outbox.amend(message.commandId, message.params));
        return;
      case "look":
        tab.look = message.sessionId;
        this.#hints.look();
        return;
      case "storage":
        this.#answer(tab, message.id, this.#keeping.facts());
        return;
      case "keepDays":
        this.#answer(tab, message.id, this.#keeping.keepDays(message.days));
        return;
      case "text":
        this.#answer(tab, message.id, this.#texts.text(message.body));
        return;
      case "draft":
        this.#drafts.save(message.sessionId, message.text);
        return;
      case "wake":
        this.#engine.wake();
        // Another worker of this browser may have ended and left something.
        if (this.#engine.isReady) this.#loadOutbox();
        return;
      case "visible":
        return;
      case "enrol":
        void this.#engine.enrol(message.enrolment);
        return;
      default:
        assertNever(message);
    }
  }

  /** What the replica holds, to all pages. */
  #sendAll(isSent: (sessionId: SessionId) => boolean): void {
    for (const tab of this.#tabs) {
      this.#sendRail(tab);
      const sessionIds = [...tab.open.keys()].filter(isSent);
      for (const sessionId of sessionIds) this.#sendWindow(tab, sessionId, null);
    }
  }

  #sendRail(tab: Tab): void {
    this.#read(tab, async () => {
      const changes = await this.#options.replica.rail();
      return [{ type: "rows", changes, reset: true }, ...this.#hints.doing()];
    });
  }

  #open(tab: Tab, sessionId: SessionId): void {
    tab.open.set(sessionId, null);
    tab.unread.add(sessionId);
    for (const input of this.#streams.held(sessionId)) tab.render(input);
    for (const hint of this.#hints.lookers(sessionId)) tab.post(hint);
    this.#streams.watch(sessionId);
    this.#sendWindow(tab, sessionId, null);
    this.#keeping.tendSoon();
  }

  #earlier(tab: Tab, sessionId: SessionId): void {
    const edge = tab.open.get(sessionId);
    if (edge !== undefined && edge !== null) this.#sendWindow(tab, sessionId, edge);
  }

  #sendWindows(sessionId: SessionId): void {
    for (const tab of this.#tabsWith(sessionId)) this.#sendWindow(tab, sessionId, null);
  }

  #sendWindow(tab: Tab, sessionId: SessionId, before: WindowEdge | null): void {
    const { replica } = this.#options;
    let sent: Change[] = [];
    const read = async (): Promise<SyncMessage[]> => {
      const [window, draft] = await Promise.all([
        replica.window(sessionId, REQUESTS_PER_WINDOW, before),
        this.#drafts.read(sessionId),
      ]);
      if (!tab.open.has(sessionId)) return [];
      const { changes, found, isWhole, earlier } = window;
      tab.open.set(sessionId, earlier);
      tab.unread.delete(sessionId);
      if (isWhole) tab.partial.delete(sessionId);
      else tab.partial.add(sessionId);
      if (!isWhole) this.#want(sessionId);
      else if (this.#isMissed(sessionId)) this.#catchUpSoon(sessionId);
      sent = changes;
      return [
        { type: "rows", changes, reset: false },
        { type: "opened", sessionId, found, hasEarlier: earlier !== null, isWhole, draft },
      ];
    };
    // What was fetched may be the first to say that a text has ended.
    this.#read(tab, read, () => this.#streams.rows(sent, false));
  }

  #close(tab: Tab, sessionId: SessionId): void {
    if (!tab.open.delete(sessionId)) return;
    tab.unread.delete(sessionId);
    tab.partial.delete(sessionId);
    for (const { key } of this.#streams.held(sessionId)) tab.render({ type: "end", key });
    if (this.#tabsWith(sessionId).length > 0) return;
    this.#streams.unwatch(sessionId);
    this.#hints.closed(sessionId);
    this.#keeping.closed(sessionId);
  }

  #read(tab: Tab, read: () => Promise<SyncMessage[]>, posted: () => void = () => {}): void {
    tab.reading(read).then(posted, (error: unknown) => this.#engine.storageFailed(error));
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
    if (isWithdrawn) {
      this.#askers.delete(commandId);
      this.#tell({ type: "withdrawn", commandId });
    }
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
    const areMore = this.#engine.state.kind === "catching-up";
    for (const tab of this.#tabs) tab.rows(changes, reset, areMore);
    this.#streams.rows(changes, reset);
    this.#texts.rows(changes);
    this.#keeping.tendSoon();
  }

  #outboxMessage(): SyncMessage {
    return { type: "outbox", entries: this.#outbox.entries };
  }

  #tell(message: SyncMessage): void {
    for (const tab of this.#tabs) tab.post(message);
  }
}
