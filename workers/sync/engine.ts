// Keeps this device connected: tries, tries again, says hello from the stored cursor, notices silence
// and sleep, and tells what happened. What comes in goes to the feed intake or to the listener; of the
// browser's pages it knows nothing.

import { assertNever } from "../../shared/assert-never.ts";
import type { SessionId } from "../../shared/ids.ts";
import { RECONNECT_MAX_MS } from "../../shared/limits.ts";
import { makeKeyPair } from "../../shared/noise/noise-crypto.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { Introduction } from "../../shared/protocol/handshake.ts";
import type { LiveEvent } from "../../shared/protocol/live-events.ts";
import type { ClientMessage, DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import { PROTOCOL_VERSION } from "../../shared/protocol/version.ts";
import { retryDelay } from "./backoff.ts";
import { FeedIntake, type Standing } from "./feed-intake.ts";
import { isSilent, makeHeartbeat } from "./heartbeat.ts";
import { type Admitted, Link, type LinkEnd, type LinkSurroundings } from "./link.ts";
import { Pairing } from "./pairing.ts";
import type { ConnectionState, LostBecause } from "./port.ts";
import { PROBE_CALL_ID, PROBE_MS, Probe } from "./probe.ts";
import type { Keyring, Position, ReplicaRows } from "./replica.ts";
import { watchForSleep } from "./sleep-watch.ts";

type Message<T extends DaemonMessage["type"]> = Extract<DaemonMessage, { type: T }>;

export interface EngineListener {
  connection(state: ConnectionState, syncedAt: number | null): void;
  /** Rows as they come, before they are stored. */
  rows(changes: Change[], reset: boolean): void;
  live(sessionId: SessionId, event: LiveEvent): void;
  result(id: number, value: unknown): void;
  failure(id: number, error: WireError): void;
  /** From now on `send` works. */
  ready(): void;
  /** Until the next `ready` it does not, and calls under way will have no answer. */
  lost(): void;
  caughtUp(): void;
  /** Another worker wrote to the replica: what was shown here is not what it holds. */
  moved(): void;
}

export interface EngineOptions {
  readonly around: LinkSurroundings;
  readonly replica: ReplicaRows & Keyring;
  /** In [0, 1). */
  readonly random: () => number;
  readonly appVersion: string;
  readonly listener: EngineListener;
}

/** What lasts as long as one connection. */
interface Live {
  readonly link: Link;
  readonly intake: FeedIntake;
  readonly admitted: Admitted;
  readonly welcome: Message<"welcome">;
  readonly stopHeartbeat: () => void;
}

export class Engine {
  readonly #options: EngineOptions;
  readonly #probe: Probe;
  readonly #pairing: Pairing;
  #deviceName = "";
  #state: ConnectionState = { kind: "connecting" };
  #syncedAt: number | null = null;
  /** Counts attempts to connect: what an earlier one still does is void. */
  #round = 0;
  /** When the attempt under way began, if one is. It may hang in a network that is gone. */
  #attemptAt: number | null = null;
  #link: Link | null = null;
  #intake: FeedIntake | null = null;
  /** Where what was shown stood when the last connection was begun or had its last page stored. */
  #shown: () => Standing | null = () => null;
  #admitted: Admitted | null = null;
  #live: Live | null = null;
  #farewell: LostBecause | null = null;
  #failures = 0;
  #lostSince: number | null = null;
  /** A refusal stays shown while it is tried whether it still holds. */
  #isQuiet = false;
  #cancelRetry = () => {};

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#probe = new Probe(options.around.clock, () => this.#dropSilent());
    this.#pairing = new Pairing(options.replica);
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** When this device last knew all that the daemon knows. */
  get syncedAt(): number | null {
    return this.#syncedAt;
  }

  get isReady(): boolean {
    return this.#live !== null;
  }

  /** Call once, before anything else. */
  start(deviceName: string, enrolment: string | null): void {
    this.#deviceName = deviceName;
    this.#pairing.give(enrolment);
    watchForSleep(this.#options.around.clock, () => this.wake());
    void this.#connect();
  }

  /** False, with nothing sent, while there is no connection. */
  send(message: ClientMessage): boolean {
    return this.#live?.link.send(message) ?? false;
  }

  /** The network came back or someone is looking: find out now whether the daemon is there. */
  wake(): void {
    const { clock } = this.#options.around;
    if (this.#live !== null) this.#doubt(this.#live);
    else if (this.#attemptAt === null || clock.now() - this.#attemptAt >= PROBE_MS) {
      this.#isQuiet = this.#state.kind === "refused" || this.#state.kind === "changed-key";
      void this.#connect();
    }
  }

  /** Pairs again, with another daemon key if that is what was shown to be wrong. Nothing while connected. */
  async enrol(secret: string): Promise<void> {
    if (this.isReady) return;
    this.#pairing.give(secret);
    await this.#connect();
  }

  /** The stored rows proved to be damaged: fetches them all again. */
  async rebuild(): Promise<void> {
    const { replica, listener } = this.#options;
    try {
      const { epoch } = await replica.position();
      if (epoch !== null) await replica.restart(epoch);
    } catch (error) {
      this.storageFailed(error);
      return;
    }
    listener.rows([], true);
    this.#forget();
    await this.#connect();
  }

  /** Ends the connection, shows why, and tries again much later. */
  storageFailed(error: unknown): void {
    this.#round++;
    this.#forget();
    const reason = error instanceof Error ? error.message : String(error);
    const message = `This browser's storage failed: ${reason}`;
    this.#show({
      kind: "refused",
      error: { code: "storage_failed", message, retryable: true },
      daemon: null,
    });
    this.#retryIn(RECONNECT_MAX_MS);
  }

  async #connect(): Promise<void> {
    this.#forget();
    const round = ++this.#round;
    this.#attemptAt = this.#options.around.clock.now();
    this.#show({ kind: "connecting" });
    const { replica, around } = this.#options;
    try {
      const [deviceKeys, pinned, position] = await Promise.all([
        replica.deviceKeys(() => makeKeyPair(around.crypto, around.randomBytes)),
        replica.pinnedDaemon(),
        replica.position(),
      ]);
      if (round !== this.#round) return;
      this.#syncedAt ??= position.syncedAt;
      this.#notice(position);
      const setup = { deviceKeys, pinned, introduction: this.#introduction() };
      this.#link = new Link(around, setup, {
        handshaking: () => this.#show({ kind: "handshaking" }),
        admitted: (admitted, daemonKey) => {
          this.#greet(admitted, position);
          this.#pairing.admitted(daemonKey).catch((error) => this.storageFailed(error));
        },
        message: (message) => this.#message(message),
        ended: (end) => this.#ended(end),
      });
    } catch (error) {
      if (round === this.#round) this.storageFailed(error);
    }
  }

  /** Between two connections of this worker, another one may have stored pages, or started over. */
  #notice(position: Position): void {
    const shown = this.#shown();
    this.#shown = () => position;
    const isSame =
      shown === null ||
      (shown.epoch === position.epoch &&
        shown.cursor === position.cursor &&
        shown.token === position.token);
    if (!isSame) this.#options.listener.moved();
  }

  #introduction(): Introduction {
    return {
      versions: [PROTOCOL_VERSION],
      appVersion: this.#options.appVersion,
      deviceName: this.#deviceName,
      enrolment: this.#pairing.enrolment,
    };
  }

  #greet(admitted: Admitted, position: Position): void {
    const { replica, around, listener } = this.#options;
    this.#admitted = admitted;
    const intake = new FeedIntake(replica, around.clock, position, {
      send: (message) => this.send(message),
      rows: (changes, reset) => listener.rows(changes, reset),
      progress: (applied, total) => {
        if (applied > 0) this.#useful();
        this.#show({ kind: "catching-up", applied, total });
      },
      caughtUp: () => this.#caughtUp(),
      overtaken: () => void this.#connect(),
      storageFailed: (error) => this.storageFailed(error),
    });
    this.#intake = intake;
    this.#shown = () => intake.stored;
    const { epoch, cursor, token } = position;
    const hello = { type: "hello", scope: { kind: "everything" } } as const;
    this.#link?.send({ ...hello, epoch, cursor, token });
  }

  #message(message: DaemonMessage): void {
    const { listener } = this.#options;
    switch (message.type) {
      case "welcome":
        this.#welcomed(message);
        return;
      case "page":
        this.#intake?.page(message);
        return;
      case "live":
        listener.live(message.sessionId, message.event);
        return;
      case "result":
        if (message.id === PROBE_CALL_ID) this.#probe.end();
        else listener.result(message.id, message.value);
        return;
      case "failure":
        if (message.id === PROBE_CALL_ID) this.#probe.end();
        else if (message.id !== null) listener.failure(message.id, message.error);
        return;
      case "beat":
        if (this.#state.kind === "live") this.#show(this.#state);
        return;
      case "shuttingDown":
        this.#farewell = "shutting_down";
        return;
      case "evicted":
        this.#farewell = "evicted";
        return;
      default:
        assertNever(message);
    }
  }

  #welcomed(welcome: Message<"welcome">): void {
    const [link, intake, admitted] = [this.#link, this.#intake, this.#admitted];
    if (link === null || intake === null || admitted === null || this.#live !== null) return;
    const { clock } = this.#options.around;
    const stopHeartbeat = makeHeartbeat(clock, link, welcome.heartbeatMs, {
      beat: () => link.send({ type: "beat" }),
      silent: () => this.#dropSilent(),
    });
    this.#live = { link, intake, admitted, welcome, stopHeartbeat };
    intake.welcome(welcome);
    this.#options.listener.ready();
  }

  #caughtUp(): void {
    if (this.#live === null) return;
    const { admitted, welcome } = this.#live;
    this.#useful();
    this.#show({
      kind: "live",
      deviceId: admitted.deviceId,
      role: welcome.role,
      daemonName: welcome.daemonName,
      daemonVersion: welcome.daemonVersion,
    });
    this.#options.listener.caughtUp();
  }

  /** Something worth having came: the next loss begins with short waits again. */
  #useful(): void {
    this.#failures = 0;
    this.#lostSince = null;
  }

  #doubt({ link, welcome }: Live): void {
    if (isSilent(link, welcome.heartbeatMs, this.#options.around.clock.now())) this.#dropSilent();
    else this.#probe.ask(link);
  }

  /** A socket found dead by us is no sign of an overloaded daemon: try at once. */
  #dropSilent(): void {
    this.#lostSince ??= this.#options.around.clock.now();
    void this.#connect();
  }

  #ended(end: LinkEnd): void {
    const because = this.#farewell;
    this.#forget();
    switch (end.kind) {
      case "lost":
        this.#retryLater(because ?? end.because);
        return;
      case "refused":
        this.#show(end);
        if (end.error.retryable) this.#retryIn(RECONNECT_MAX_MS);
        return;
      case "changed-key":
        void this.#changedKey(end);
        return;
      default:
        assertNever(end);
    }
  }

  async #changedKey(end: Extract<LinkEnd, { kind: "changed-key" }>): Promise<void> {
    const round = this.#round;
    try {
      const isAnswered = await this.#pairing.answersTo(end.offered);
      if (round !== this.#round) return;
      if (isAnswered) await this.#connect();
      else this.#show(end);
    } catch (error) {
      this.storageFailed(error);
    }
  }

  #retryLater(because: LostBecause): void {
    const { around, random } = this.#options;
    const now = around.clock.now();
    this.#lostSince ??= now;
    const delay = retryDelay(this.#failures++, now - this.#lostSince, random());
    this.#show({ kind: "offline", because, retryAt: now + delay });
    this.#cancelRetry();
    this.#cancelRetry = around.clock.after(delay, () => void this.#connectIfReachable());
  }

  /** Browsers hold back sockets where several failed before; a plain question comes through at once. */
  async #connectIfReachable(): Promise<void> {
    const { around } = this.#options;
    const round = ++this.#round;
    this.#attemptAt = around.clock.now();
    try {
      await around.fetchIdentity();
    } catch {
      if (round !== this.#round) return;
      this.#attemptAt = null;
      this.#retryLater("unreachable");
      return;
    }
    if (round === this.#round) await this.#connect();
  }

  #retryIn(delay: number): void {
    this.#cancelRetry();
    this.#cancelRetry = this.#options.around.clock.after(delay, () => void this.#connect());
  }

  #forget(): void {
    this.#cancelRetry();
    this.#probe.end();
    const wasReady = this.#live !== null;
    this.#live?.stopHeartbeat();
    this.#intake?.end();
    this.#link?.close();
    this.#link = this.#intake = this.#admitted = this.#live = this.#farewell = null;
    this.#attemptAt = null;
    if (wasReady) this.#options.listener.lost();
  }

  #show(state: ConnectionState): void {
    if (this.#isQuiet && (state.kind === "connecting" || state.kind === "handshaking")) return;
    this.#isQuiet = false;
    this.#state = state;
    if (state.kind === "live") this.#syncedAt = this.#options.around.clock.now();
    this.#options.listener.connection(state, this.#syncedAt);
  }
}
