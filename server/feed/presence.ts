// Which devices look at which session now. Ephemeral: nothing of it is stored, and a connection that is
// gone looks at nothing. What waits to be told is a set of sessions, never a queue of events.

import type { DeviceId, SessionId } from "../../shared/ids.ts";
import type { Clock } from "../clock.ts";
import type { SendLive } from "./watching.ts";

/** At most one event per session and connection in this time, however fast a device comes and goes. */
const LOOKERS_STEP_MS = 250;

export interface SeatOptions {
  /** Null: nobody is shown for this connection. */
  readonly deviceId: DeviceId | null;
  /** False: hears nothing of others. */
  readonly isTold: boolean;
  /** Something waits for `sendChanges`. */
  readonly changed: () => void;
}

interface Looker {
  /** Connections of the device that look. */
  connections: number;
  /** The feed's head when the device came: its row is no later. */
  readonly afterRev: number;
}

interface LookedAt {
  readonly lookers: Map<DeviceId, Looker>;
  readonly watchers: Set<Seat>;
  /** Set for LOOKERS_STEP_MS after the watchers were told. */
  cancelStep: (() => void) | null;
  hasChanged: boolean;
}

/** One connection's place: what it looks at, whose looks it hears of, and what it was told. */
export class Seat {
  readonly #presence: Presence;
  readonly #options: SeatOptions;
  readonly #afterRev: number;
  #looks: ReadonlySet<SessionId> = new Set();
  /** What was sent last of each session watched; null: nothing yet. */
  readonly #told = new Map<SessionId, string | null>();
  readonly #waiting = new Set<SessionId>();

  constructor(presence: Presence, options: SeatOptions, afterRev: number) {
    this.#presence = presence;
    this.#options = options;
    this.#afterRev = afterRev;
  }

  /** What someone sees there now, in place of what was said before. Only what the device may see. */
  look(sessionIds: readonly SessionId[]): void {
    const { deviceId } = this.#options;
    if (deviceId === null) return;
    const before = this.#looks;
    const looks = new Set(sessionIds);
    this.#looks = looks;
    for (const sessionId of looks) {
      if (!before.has(sessionId)) this.#presence.add(sessionId, deviceId, this.#afterRev);
    }
    for (const sessionId of before) {
      if (!looks.has(sessionId)) this.#presence.take(sessionId, deviceId);
    }
  }

  /** Hears who looks at the session, at once and when it changes. */
  watch(sessionId: SessionId): void {
    if (!this.#options.isTold) return;
    this.#told.set(sessionId, null);
    this.#presence.listen(sessionId, this);
    this.lookersChanged(sessionId);
  }

  unwatch(sessionId: SessionId): void {
    if (!this.#told.delete(sessionId)) return;
    this.#waiting.delete(sessionId);
    this.#presence.unlisten(sessionId, this);
  }

  /** The device may no longer see the session. */
  lose(sessionId: SessionId): void {
    this.unwatch(sessionId);
    if (this.#looks.has(sessionId)) this.look([...this.#looks].filter((id) => id !== sessionId));
  }

  leave(): void {
    this.look([]);
    for (const sessionId of [...this.#told.keys()]) this.unwatch(sessionId);
  }

  /** For Presence: someone came or went. */
  lookersChanged(sessionId: SessionId): void {
    this.#waiting.add(sessionId);
    this.#options.changed();
  }

  /** Sends how things stand where they changed, to a connection holding all rows up to `rev` (F6). */
  sendChanges(rev: number, send: SendLive): void {
    for (const sessionId of this.#waiting) {
      const { deviceIds, afterRev } = this.#presence.lookers(sessionId, this.#options.deviceId);
      if (afterRev > rev) continue;
      this.#waiting.delete(sessionId);
      const telling = deviceIds.join();
      if (this.#told.get(sessionId) === telling) continue;
      this.#told.set(sessionId, telling);
      send({ type: "live", sessionId, event: { type: "session.lookers", deviceIds } });
    }
  }
}

export class Presence {
  readonly #clock: Clock;
  readonly #head: () => number;
  readonly #sessions = new Map<SessionId, LookedAt>();

  /** `head`: the feed's. */
  constructor(clock: Clock, head: () => number) {
    this.#clock = clock;
    this.#head = head;
  }

  /** Sessions that someone looks at, or watches. */
  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** A place for a connection that was let in: its device's row is in the feed. */
  join(options: SeatOptions): Seat {
    return new Seat(this, options, this.#head());
  }

  /** The devices that look at the session, in the order they came. */
  lookers(
    sessionId: SessionId,
    except: DeviceId | null,
  ): { deviceIds: DeviceId[]; afterRev: number } {
    const deviceIds: DeviceId[] = [];
    let latest = 0;
    for (const [deviceId, { afterRev }] of this.#sessions.get(sessionId)?.lookers ?? []) {
      if (deviceId === except) continue;
      deviceIds.push(deviceId);
      latest = Math.max(latest, afterRev);
    }
    return { deviceIds, afterRev: latest };
  }

  listen(sessionId: SessionId, seat: Seat): void {
    this.#session(sessionId).watchers.add(seat);
  }

  unlisten(sessionId: SessionId, seat: Seat): void {
    this.#sessions.get(sessionId)?.watchers.delete(seat);
    this.#tidy(sessionId);
  }

  add(sessionId: SessionId, deviceId: DeviceId, afterRev: number): void {
    const { lookers } = this.#session(sessionId);
    const looker = lookers.get(deviceId);
    if (looker !== undefined) {
      looker.connections += 1;
      return;
    }
    lookers.set(deviceId, { connections: 1, afterRev });
    this.#changed(sessionId);
  }

  take(sessionId: SessionId, deviceId: DeviceId): void {
    const lookers = this.#sessions.get(sessionId)?.lookers;
    const looker = lookers?.get(deviceId);
    if (lookers === undefined || looker === undefined) return;
    looker.connections -= 1;
    if (looker.connections > 0) return;
    lookers.delete(deviceId);
    this.#changed(sessionId);
  }

  #changed(sessionId: SessionId): void {
    const session = this.#session(sessionId);
    session.hasChanged = true;
    if (session.cancelStep === null) this.#tell(sessionId, session);
  }

  #tell(sessionId: SessionId, session: LookedAt): void {
    session.hasChanged = false;
    if (session.watchers.size === 0) {
      this.#tidy(sessionId);
      return;
    }
    session.cancelStep = this.#clock.after(LOOKERS_STEP_MS, () => {
      session.cancelStep = null;
      if (session.hasChanged) this.#tell(sessionId, session);
      else this.#tidy(sessionId);
    });
    for (const seat of session.watchers) seat.lookersChanged(sessionId);
  }

  #session(sessionId: SessionId): LookedAt {
    let session = this.#sessions.get(sessionId);
    if (session === undefined) {
      session = { lookers: new Map(), watchers: new Set(), cancelStep: null, hasChanged: false };
      this.#sessions.set(sessionId, session);
    }
    return session;
  }

  #tidy(sessionId: SessionId): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined || session.lookers.size > 0 || session.watchers.size > 0) return;
    session.cancelStep?.();
    this.#sessions.delete(sessionId);
  }
}
