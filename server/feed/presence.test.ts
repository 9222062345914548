import { describe, expect, test } from "vitest";
import type { DeviceId, SessionId } from "../../shared/ids.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import { makeFakeClock } from "../testing/fake-clock.ts";
import { sampleDeviceId, sampleSessionId } from "../testing/sample-rows.ts";
import { withSeeds } from "../testing/seeded-random.ts";
import { Presence, type Seat } from "./presence.ts";

const STEP_MS = 250;
const session = sampleSessionId("session-a");
const other = sampleSessionId("session-b");
const phone = sampleDeviceId("phone");
const studio = sampleDeviceId("studio");
const desk = sampleDeviceId("desk");

interface Place {
  readonly seat: Seat;
  /** What the connection was told of `session`, each time. */
  told(of?: SessionId): readonly DeviceId[][];
  /** Whether there is room for what is to be said. */
  hasRoom: boolean;
  rev: number;
  catchUp(): void;
}

function setUp() {
  const clock = makeFakeClock();
  let head = 10;
  const presence = new Presence(clock, () => head);
  const sit = (deviceId: DeviceId | null, isTold = true): Place => {
    const sent: DaemonMessage[] = [];
    const send = () => {
      if (place.hasRoom) place.seat.sendChanges(place.rev, (message) => sent.push(message));
    };
    const place: Place = {
      seat: presence.join({ deviceId, isTold, changed: send }),
      told: (of = session) =>
        sent.flatMap((message) =>
          message.type === "live" &&
          message.sessionId === of &&
          message.event.type === "session.lookers"
            ? [message.event.deviceIds]
            : [],
        ),
      hasRoom: true,
      rev: 1_000,
      catchUp: send,
    };
    return place;
  };
  const moveHead = (to: number) => {
    head = to;
  };
  return { clock, presence, sit, moveHead };
}

describe("presence", () => {
  test("[P1] tells who watches a session which other devices look at it, at once and on change", async () => {
    const { sit, clock } = setUp();
    const own = sit(desk);
    own.seat.watch(session);
    expect(own.told()).toEqual([[]]);
    const far = sit(phone);
    far.seat.look([session]);
    expect(own.told()).toEqual([[], [phone]]);
    await clock.advance(STEP_MS);
    far.seat.look([other]);
    expect(own.told()).toEqual([[], [phone], []]);
    expect(own.told(other)).toEqual([]);
    const late = sit(studio);
    far.seat.look([session, other]);
    late.seat.watch(session);
    expect(late.told()).toEqual([[phone]]);
  });

  test("[P1] never names the receiver's own device, whichever of its connections looks", async () => {
    const { sit, clock } = setUp();
    const [tab, second] = [sit(desk), sit(desk)];
    tab.seat.watch(session);
    tab.seat.look([session]);
    second.seat.look([session]);
    await clock.advance(STEP_MS);
    expect(tab.told()).toEqual([[]]);
  });

  test("[P1] takes the connections of a device for one, which looks until the last of them does not", async () => {
    const { sit, clock } = setUp();
    const own = sit(desk);
    own.seat.watch(session);
    const [first, second] = [sit(phone), sit(phone)];
    first.seat.look([session]);
    second.seat.look([session]);
    first.seat.look([session]);
    await clock.advance(STEP_MS);
    first.seat.look([]);
    await clock.advance(STEP_MS);
    expect(own.told()).toEqual([[], [phone]]);
    second.seat.leave();
    await clock.advance(STEP_MS);
    expect(own.told()).toEqual([[], [phone], []]);
  });

  test("[P1] a connection that is gone looks at nothing and is told nothing", async () => {
    const { sit, clock } = setUp();
    const [own, far] = [sit(desk), sit(phone)];
    own.seat.watch(session);
    far.seat.watch(session);
    far.seat.look([session, other]);
    far.seat.leave();
    await clock.advance(STEP_MS);
    expect(own.told().at(-1)).toEqual([]);
    const heard = far.told().length;
    sit(studio).seat.look([session]);
    await clock.advance(STEP_MS);
    expect(far.told()).toHaveLength(heard);
    expect(own.told().at(-1)).toEqual([studio]);
  });

  test("[P2] a device that comes and goes makes one event in a step, and the last state wins", async () => {
    const { sit, clock } = setUp();
    const own = sit(desk);
    own.seat.watch(session);
    const far = sit(phone);
    far.seat.look([session]);
    for (let i = 0; i < 1_000; i += 1) {
      far.seat.look([]);
      far.seat.look([session]);
    }
    far.seat.look([]);
    expect(own.told()).toEqual([[], [phone]]);
    await clock.advance(STEP_MS);
    expect(own.told()).toEqual([[], [phone], []]);
    await clock.advance(10 * STEP_MS);
    expect(own.told()).toHaveLength(3);
  });

  test("[P2] what changed back meanwhile is not told", async () => {
    const { sit, clock } = setUp();
    const own = sit(desk);
    own.seat.watch(session);
    const far = sit(phone);
    far.seat.look([session]);
    far.seat.look([]);
    far.seat.look([session]);
    await clock.advance(STEP_MS);
    expect(own.told()).toEqual([[], [phone]]);
  });

  test("[P2] a connection without room is told no more than how things stand once it has some", async () => {
    const { sit, clock } = setUp();
    const own = sit(desk);
    own.seat.watch(session);
    own.hasRoom = false;
    for (const device of [phone, studio]) {
      sit(device).seat.look([session]);
      await clock.advance(STEP_MS);
    }
    expect(own.told()).toEqual([[]]);
    own.hasRoom = true;
    own.catchUp();
    expect(own.told()).toEqual([[], [phone, studio]]);
  });

  test("[F6] names a device only to who was sent the device's row", async () => {
    const { sit, moveHead } = setUp();
    const own = sit(desk);
    own.rev = 10;
    own.seat.watch(session);
    moveHead(12);
    sit(phone).seat.look([session]);
    expect(own.told()).toEqual([[]]);
    own.rev = 11;
    own.catchUp();
    expect(own.told()).toEqual([[]]);
    own.rev = 12;
    own.catchUp();
    expect(own.told()).toEqual([[], [phone]]);
  });

  test("[F9] what may not be seen any more is neither looked at nor told of", async () => {
    const { sit, clock } = setUp();
    const [own, far] = [sit(desk), sit(phone)];
    own.seat.watch(session);
    far.seat.watch(session);
    far.seat.look([session, other]);
    far.seat.lose(session);
    await clock.advance(STEP_MS);
    expect(own.told().at(-1)).toEqual([]);
    own.seat.look([session]);
    await clock.advance(STEP_MS);
    expect(far.told()).toEqual([[]]);
    own.seat.watch(other);
    expect(own.told(other)).toEqual([[phone]]);
  });

  test("[F9] who is told nothing is still seen; who has no device is not", async () => {
    const { sit, clock } = setUp();
    const own = sit(desk);
    own.seat.watch(session);
    const viewer = sit(phone, false);
    viewer.seat.watch(session);
    viewer.seat.look([session]);
    const local = sit(null);
    local.seat.look([session]);
    local.seat.watch(session);
    await clock.advance(STEP_MS);
    expect(own.told()).toEqual([[], [phone]]);
    expect(local.told()).toEqual([[phone]]);
    expect(viewer.told()).toEqual([]);
    viewer.seat.unwatch(session);
  });

  test("keeps nothing of sessions that nobody looks at or watches, timers included", async () => {
    const { sit, presence, clock } = setUp();
    const [own, far] = [sit(desk), sit(phone)];
    for (let i = 0; i < 100; i += 1) {
      const each = sampleSessionId(`session-${i}`);
      own.seat.watch(each);
      far.seat.look([each]);
      own.seat.unwatch(each);
    }
    own.seat.leave();
    far.seat.leave();
    await clock.advance(STEP_MS);
    expect(clock.pending).toBe(0);
    expect(presence.sessionCount).toBe(0);
  });

  test("in the end everyone was told what is so, whatever came in between", async () => {
    await withSeeds([1, 2, 3], async (random) => {
      const { sit, clock } = setUp();
      const sat = (device: DeviceId) => ({ device, ...withLooks(sit(device)) });
      const places = [sat(desk), sat(desk), sat(phone), sat(studio)] as const;
      for (let step = 0; step < 400; step += 1) {
        const place = random.pick(places);
        const of = random.pick([session, other]);
        const what = random.pick<"look" | "watch" | "unwatch">([
          "look",
          "look",
          "watch",
          "unwatch",
        ]);
        if (what === "look") place.look([session, other].filter(() => random.oneIn(2)));
        else place[what](of);
        if (random.oneIn(3)) await clock.advance(random.below(2 * STEP_MS));
      }
      await clock.advance(STEP_MS);
      for (const { device, watched, told } of places) {
        for (const of of watched) {
          const wanted = places.filter((each) => each.device !== device && each.looks.has(of));
          const ids = [...new Set(wanted.map((each) => each.device))].sort();
          expect([...(told(of).at(-1) ?? [])].sort()).toEqual(ids);
        }
      }
    });
  });
});

/** A place that remembers what it said. */
function withLooks({ seat, told }: Place) {
  const watched = new Set<SessionId>();
  const looks = new Set<SessionId>();
  return {
    watched,
    looks,
    told,
    look(sessionIds: SessionId[]) {
      looks.clear();
      for (const id of sessionIds) looks.add(id);
      seat.look(sessionIds);
    },
    watch(id: SessionId) {
      watched.add(id);
      seat.watch(id);
    },
    unwatch(id: SessionId) {
      watched.delete(id);
      seat.unwatch(id);
    },
  };
}
