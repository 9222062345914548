// Keeps this device connected: tries, tries again, says hello from the stored cursor, notices silence
// and sleep, and tells what happened. What comes in goes to the feed intake or to the listener; of the
// browser's pages it knows nothing.

import { assertNever } from "../../shared/assert-never.ts";
import { type SessionId, toBase64Url } from "../../shared/ids.ts";
import { RECONNECT_MAX_MS } from "../../shared/limits.ts";
import { makeKeyPair } from "../../shared/noise/noise-crypto.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { Introduction } from "../../shared/protocol/handshake.ts";
import type { LiveEvent } from "../../shared/protocol/live-events.ts";
import type { ClientMessage, DaemonMessage } from "../../shared/protocol/messages.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import { PROTOCOL_VERSION } from "../../shared/protocol/version.ts";
import { FeedIntake, type FetchAim, type Standing } from "./feed-intake.ts";
import { isSilent, makeHeartbeat } from "./heartbeat.ts";
import {
  type Admitted,
  Link,
  type LinkEnd,
  type LinkSurroundings,
  type PlainMessage,
} from "./link.ts";
import type { MakeRoom } from "./ordered-writes.ts";
import { Pairing } from "./pairing.ts";
import type { ConnectionState, Enrolment, LostBecause } from "./port.ts";
import { PROBE_CALL_ID, PROBE_MS, Probe } from "./probe.ts";
import {
  type Choices,
  type Keyring,
  type Position,
  ReplicaError,
  type ReplicaRows,
} from "./replica.ts";
import { Retries } from "./retries.ts";
import { watchForSleep } from "./sleep-watch.ts";

const CONNECTION_ID_BYTES = 9;

/** How often people are told how far catching up has got. */
const PROGRESS_STEP_MS = 250;

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
  /** See IntakeActions; so with the next two, and `storedLate`. */
  cameLeftOut(sessionIds: readonly SessionId[]): void;
  fetched(sessionId: SessionId, aim: FetchAim): void;
  outOfRoom(sessionIds: readonly SessionId[]): void;
  /** Another worker wrote to the replica: what was shown here is not what it holds. */
  moved(): void;
  storedLate(): void;
}

export interface EngineOptions {
  readonly around: LinkSurroundings;
  readonly replica: ReplicaRows & Keyring & Choices;
  /** In [0, 1). */
  readonly random: () => number;
  readonly appVersion: string;
  readonly makeRoom: MakeRoom;
  readonly listener: EngineListener;
}

/** What lasts as long as one connection. */
interface Live {
  readonly link: Link;
  readonly intake: FeedIntake;
  readonly admitted: Admitted;
  readonly welcome: Message<"welcome">;
  readonly clockAheadMs: number;
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
  readonly #retries: Retries;
  #progressAt = 0;
  /** A refusal stays shown while it is tried whether it still holds. */
  #isQuiet = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#retries = new Retries(options.around.clock, options.random);
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

  /** The present connection's share of the feed. */
  get feed(): FeedIntake | null {
    return this.#live?.intake ?? null;
  }

  /** Call once, before anything else. */
  start(deviceName: string, enrolment: Enrolment | null): void {
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
    if (this.#live !== null) this.#doubt(this.#live);
    else if (this.#attemptAt !== null) this.#doubtAttempt(this.#round, this.#attemptAt);
    else this.#connectQuietly();
  }

  /** It may hang in a network that is gone: one that shows no life is begun anew. */
  #doubtAttempt(round: number, attemptAt: number): void {
    const { clock } = this.#options.around;
    const left = (this.#link?.lastHeardAt ?? attemptAt) + PROBE_MS - clock.now();
    if (left <= 0) this.#connectQuietly();
    else {
      clock.after(left, () => {
        const isUnderWay = round === this.#round && this.#attemptAt !== null;
        if (isUnderWay && this.#live === null) this.#doubtAttempt(round, attemptAt);
      });
    }
  }

  #connectQuietly(): void {
    this.#isQuiet = this.#state.kind === "refused" || this.#state.kind === "changed-key";
    void this.#connect();
  }

  /**
   * Connects again with the secret of another link, to another daemon key if that is what was shown to be
   * wrong. Nothing while connected as owner: no link lets an owner in further.
   */
  async enrol(enrolment: Enrolment): Promise<void> {
    if (this.#live?.welcome.role === "owner") return;
    this.#pairing.give(enrolment);
    await this.#connect();
  }

  /** What to keep was chosen anew: a connection says so when it begins. */
  async rechoose(): Promise<void> {
    // An attempt under way may have been begun with what was chosen before.
    if (this.isReady || this.#attemptAt !== null) await this.#connect();
  }

  /** Fetches all rows again. */
  async #rebuild(): Promise<void> {
    const { replica, listener } = this.#options;
    try {
      const { epoch, leftOut } = await replica.position();
      if (epoch !== null) await replica.restart(epoch, leftOut);
    } catch (error) {
      this.storageFailed(error);
      return;
    }
    listener.rows([], true);
    this.#forget();
    await this.#connect();
  }

  /** What is damaged is fetched again; else it ends the connection, shows why, and tries again much later. */
  storageFailed(error: unknown): void {
    if (error instanceof ReplicaError) {
      void this.#rebuild();
      return;
    }
    this.#round++;
    this.#forget();
    const reason = error instanceof Error ? error.message : String(error);
    const message = `This browser's storage failed: ${reason}`;
    this.#show({
      kind: "refused",
      error: { code: "storage_failed", message, retryable: true },
      daemon: null,
    });
    this.#retries.after(RECONNECT_MAX_MS, () => void this.#connect());
  }

  async #connect(): Promise<void> {
    this.#forget();
    const round = ++this.#round;
    this.#attemptAt = this.#options.around.clock.now();
    this.#show({ kind: "connecting" });
    const { replica, around } = this.#options;
    try {
      const [deviceKeys, pinned, position, days] = await Promise.all([
        replica.deviceKeys(() => makeKeyPair(around.crypto, around.randomBytes)),
        replica.pinnedDaemon(),
        replica.position(),
        replica.keepDays(),
      ]);
      if (round !== this.#round) return;
      this.#syncedAt ??= position.syncedAt;
      this.#notice(position);
      const setup = { deviceKeys, pinned, introduction: this.#introduction() };
      this.#link = new Link(around, setup, {
        handshaking: () => this.#show({ kind: "handshaking" }),
        admitted: (admitted, daemonKey) => {
          this.#greet(admitted, position, days);
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
        shown.token === position.token &&
        shown.fills === position.fills);
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

  #greet(admitted: Admitted, position: Position, days: number | null): void {
    const { replica, around, listener, makeRoom } = this.#options;
    this.#admitted = admitted;
    const intake = new FeedIntake({
      replica,
      clock: around.clock,
      position,
      connection: toBase64Url(around.randomBytes(CONNECTION_ID_BYTES)),
      makeRoom,
      actions: {
        send: (message) => this.send(message),
        rows: (changes, reset) => listener.rows(changes, reset),
        progress: (applied, total) => {
          if (applied > 0) this.#retries.reset();
          this.#showProgress(applied, total);
        },
        caughtUp: () => this.#caughtUp(),
        cameLeftOut: (sessionIds) => listener.cameLeftOut(sessionIds),
        fetched: (sessionId, aim) => listener.fetched(sessionId, aim),
        outOfRoom: (sessionIds) => listener.outOfRoom(sessionIds),
        overtaken: () => void this.#connect(),
        storedLate: () => listener.storedLate(),
        storageFailed: (error) => this.storageFailed(error),
      },
    });
    this.#intake = intake;
    this.#shown = () => intake.stored;
    const { epoch, cursor, token, leftOut } = position;
    const scope = { days, except: [...leftOut] };
    const packings = this.#link?.packings ?? [];
    this.#link?.send({ type: "hello", scope, epoch, cursor, token, packings });
  }

  #message(message: PlainMessage): void {
    const { listener } = this.#options;
    switch (message.type) {
      case "welcome":
        this.#welcomed(message);
        return;
      case "page":
        this.#intake?.page(message);
        return;
      case "fill":
        this.#intake?.fill(message);
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
    const clockAheadMs = clock.now() - welcome.now;
    this.#live = { link, intake, admitted, welcome, clockAheadMs, stopHeartbeat };
    intake.welcome(welcome);
    this.#options.listener.ready();
  }

  #caughtUp(): void {
    if (this.#live === null) return;
    const { admitted, welcome, clockAheadMs } = this.#live;
    this.#retries.reset();
    this.#show({
      kind: "live",
      deviceId: admitted.deviceId,
      role: welcome.role,
      daemonName: welcome.daemonName,
      daemonVersion: welcome.daemonVersion,
      clockAheadMs,
    });
    this.#options.listener.caughtUp();
  }

  #doubt({ link, welcome }: Live): void {
    if (isSilent(link, welcome.heartbeatMs, this.#options.around.clock.now())) this.#dropSilent();
    else this.#probe.ask(link);
  }

  /** A socket found dead by us is no sign of an overloaded daemon: try at once. */
  #dropSilent(): void {
    this.#retries.noteLoss();
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
        this.#pairing.refused(end.error);
        this.#show(end);
        if (end.error.retryable) this.#retries.after(RECONNECT_MAX_MS, () => void this.#connect());
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
    const retryAt = this.#retries.later(() => void this.#connectIfReachable());
    this.#show({ kind: "offline", because, retryAt });
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

  #forget(): void {
    this.#retries.cancel();
    this.#probe.end();
    const wasReady = this.#live !== null;
    this.#live?.stopHeartbeat();
    this.#intake?.end();
    this.#link?.close();
    this.#link = this.#intake = this.#admitted = this.#live = this.#farewell = null;
    this.#attemptAt = null;
    if (wasReady) this.#options.listener.lost();
  }

  /** Not with every page: drawing that would take from the work it is about. */
  #showProgress(applied: number, total: number): void {
    const now = this.#options.around.clock.now();
    const isShown = this.#state.kind === "catching-up" && this.#state.total > 0;
    if (isShown && now - this.#progressAt < PROGRESS_STEP_MS) return;
    this.#progressAt = now;
    this.#show({ kind: "catching-up", applied, total });
  }

  #show(state: ConnectionState): void {
    if (this.#isQuiet && (state.kind === "connecting" || state.kind === "handshaking")) return;
    this.#isQuiet = false;
    this.#state = state;
    if (state.kind === "live") this.#syncedAt = this.#options.around.clock.now();
    this.#options.listener.connection(state, this.#syncedAt);
  }
}
