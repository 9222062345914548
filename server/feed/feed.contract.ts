// What the feed must do on every kind of store, seen from devices at linked connections. What a kill
// leaves is in store.contract.ts (F8), what is streamed in watching.test.ts (F1, F6).

import { describe, expect, test } from "vitest";
import { PAGE_MAX_ROWS, PAGE_QUEUE_LOW_BYTES } from "../../shared/limits.ts";
import type { DaemonMessage } from "../../shared/protocol/messages.ts";
import { EVERYTHING } from "../store/store.ts";
import { makeFeedClient } from "../testing/feed-client.ts";
import { makeFeedDaemon, type StoreHarness } from "../testing/feed-daemon.ts";
import { allRows, FeedWorld } from "../testing/feed-world.ts";
import { linkConnection } from "../testing/linked-connection.ts";
import { EMPTY_REPLICA } from "../testing/plain-replica.ts";
import { plainText, sampleDeviceId, sampleSessionId, sampleTurn } from "../testing/sample-rows.ts";
import { withSeeds } from "../testing/seeded-random.ts";
import { makeSessionBench, until } from "../testing/session-bench.ts";
import { packingContract } from "./packing.contract.ts";
import { visibilityContract } from "./visibility.contract.ts";

const OPERATIONS = 300;
const SEEDS = [1, 2, 1058, 9016, 9017];

const session = sampleSessionId("session-a");
const device = sampleDeviceId("device-a");
const owner = { kind: "device", deviceId: device, role: "owner" } as const;
const scope = { days: null, except: [] };
const hello = { type: "hello", epoch: null, cursor: 0, token: null, scope, packings: [] };

type MakeHarness = () => Promise<StoreHarness>;

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

async function setUp(makeHarness: MakeHarness) {
  const daemon = await makeFeedDaemon(await makeHarness());
  const { store, hub } = daemon;
  const putTurn = (id: number, text = "") =>
    store.write((tx) =>
      tx.put("turn", session, String(id), sampleTurn({ answer: plainText(text) })),
    );
  return { store, hub, putTurn };
}

const ofType = <T extends DaemonMessage["type"]>(messages: DaemonMessage[], type: T) =>
  messages.filter(
    (message): message is Extract<DaemonMessage, { type: T }> => message.type === type,
  );

export function feedContract(name: string, makeHarness: MakeHarness): void {
  describe(`${name}: positions`, () => positions(makeHarness));
  describe(`${name}: pages`, () => pages(makeHarness));
  describe(`${name}: commands`, () => commands(makeHarness));
  visibilityContract(name, makeHarness);
  packingContract(name, makeHarness);
  describe(`${name}: in the end`, () => inTheEnd(makeHarness));
}

function positions(makeHarness: MakeHarness): void {
  test("[F2] moves the device's cursor on its ack, never on sending", async () => {
    const { hub, store, putTurn } = await setUp(makeHarness);
    await putTurn(1);
    const link = linkConnection(hub.accept, owner);
    link.say(hello);
    await settled();
    expect(await store.deviceCursor(device)).toBe(0);
    link.say({ type: "ack", cursor: 1, token: "another" });
    await settled();
    expect(await store.deviceCursor(device)).toBe(0);
    expect(link.received.at(-1)).toMatchObject({ type: "failure", error: { code: "bad_message" } });
    const [page] = ofType(link.received, "page");
    link.say({ type: "ack", cursor: 1, token: page?.token });
    await settled();
    expect(await store.deviceCursor(device)).toBe(1);
  });

  test("[F4] makes a device start over whose position this feed does not know", async () => {
    const { hub, store, putTurn } = await setUp(makeHarness);
    await putTurn(1);
    await putTurn(2);
    const { token } = await store.page(0, EVERYTHING);
    const good = { ...hello, epoch: store.epoch, cursor: 2, token };
    const resyncOf = async (position: object) => {
      const link = linkConnection(hub.accept, owner);
      link.say({ ...good, ...position });
      await settled();
      const [welcome] = ofType(link.received, "welcome");
      const rows = ofType(link.received, "page").flatMap(({ changes }) => changes);
      link.cut();
      return [welcome?.resync, rows.length];
    };
    expect(await resyncOf({})).toEqual([false, 0]);
    expect(await resyncOf({ epoch: "another" })).toEqual([true, 2]);
    expect(await resyncOf({ epoch: null })).toEqual([true, 2]);
    expect(await resyncOf({ cursor: 3 })).toEqual([true, 2]);
    expect(await resyncOf({ token: "another" })).toEqual([true, 2]);
    expect(await resyncOf({ token: null })).toEqual([true, 2]);
    expect(await resyncOf({ cursor: 1, token: "1.x" })).toEqual([true, 2]);
  });

  test("[F4] notices a client that was restored from a backup, and is done with it after one resync", async () => {
    const { hub, putTurn } = await setUp(makeHarness);
    const client = makeFeedClient(hub.accept, device);
    await putTurn(1);
    client.connect();
    await settled();
    const backup = client.backup();
    await putTurn(2);
    await settled();
    client.link.cut();
    client.restore(backup);
    client.connect();
    await settled();
    expect([client.resyncs, client.cursor]).toEqual([1, 2]);
    client.link.cut();
    client.connect();
    await settled();
    expect(client.resyncs).toBe(1);
  });

  test("[F4] goes on with a resync that was cut off instead of beginning it again", async () => {
    const { hub, store } = await setUp(makeHarness);
    await store.write(async (tx) => {
      for (let id = 1; id <= PAGE_MAX_ROWS * 2; id += 1) {
        await tx.put("turn", session, String(id), sampleTurn());
      }
    });
    const client = makeFeedClient(hub.accept, device);
    client.connect();
    await settled();
    client.link.cut();
    client.restore({ ...EMPTY_REPLICA, epoch: "another", cursor: 9, token: "x" });
    client.connect().stall();
    await settled();
    client.link.take(2);
    expect(client.cursor).toBe(PAGE_MAX_ROWS);
    await settled();
    client.link.cut();
    client.connect();
    await settled();
    expect([client.resyncs, client.cursor]).toEqual([1, PAGE_MAX_ROWS * 2]);
  });
}

function pages(makeHarness: MakeHarness): void {
  test("[F3] leaves no hole when commits race with paging", async () => {
    const { hub, store, putTurn } = await setUp(makeHarness);
    await store.write(async (tx) => {
      for (let id = 1; id <= PAGE_MAX_ROWS * 3; id += 1) {
        await tx.put("turn", session, String(id), sampleTurn());
      }
    });
    const client = makeFeedClient(hub.accept, device);
    client.connect();
    for (let id = 1; id <= 200; id += 1) {
      const write = putTurn(id * 7, `changed ${id}`);
      await Promise.resolve();
      if (id % 3 === 0) await write;
    }
    await putTurn(9_999);
    await settled();
    expect(client.cursor).toBe(store.head);
    expect(client.rows()).toEqual(await allRows(store));
  }, 20_000);

  test("[F7] sends the next page only once the one before has left the queue, and others do not wait", async () => {
    const { hub, store, putTurn } = await setUp(makeHarness);
    const slow = makeFeedClient(hub.accept, device);
    const quick = makeFeedClient(hub.accept, sampleDeviceId("device-b"));
    slow.connect().stall();
    quick.connect();
    const large = "x".repeat(700_000);
    for (let id = 1; id <= 20; id += 1) await putTurn(id, large);
    await settled();
    expect(quick.cursor).toBe(20);
    expect(slow.link.queuedBytes).toBeGreaterThan(PAGE_QUEUE_LOW_BYTES);
    expect(slow.link.queuedBytes).toBeLessThan(PAGE_QUEUE_LOW_BYTES + 800_000);
    slow.link.resume();
    await settled();
    expect(slow.cursor).toBe(store.head);
  });

  test("[F7] lets others have their turn between the pages of a long feed", async () => {
    const harness = await makeHarness();
    let spent = 0;
    const clock = { ...harness.clock, now: () => harness.clock.now() + spent };
    // To read a page takes a while, in which nothing else happens.
    const open = async () => {
      const store = await harness.open();
      return new Proxy(store, {
        get(target, name) {
          if (name === "page") spent += 10;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    };
    const { store, hub } = await makeFeedDaemon({ ...harness, clock, open });
    await store.write(async (tx) => {
      for (let id = 1; id <= PAGE_MAX_ROWS * 3; id += 1) {
        await tx.put("turn", session, String(id), sampleTurn());
      }
    });
    const link = linkConnection(hub.accept, owner);
    link.say(hello);
    await settled();
    expect(ofType(link.received, "page")).toHaveLength(1);
    await clock.advance(0);
    expect(ofType(link.received, "page").at(-1)).toMatchObject({ more: 0 });
  });
}

function commands(makeHarness: MakeHarness): void {
  test("[F5] [F8] acts once on a command that is sent again after a cut and after a restart", async () => {
    const harness = await makeHarness();
    const { clock } = harness;
    let folder = "";
    const daemon = await makeFeedDaemon(harness, {
      async makeDispatch(store) {
        const bench = await makeSessionBench({ on: { store, clock, path: "" } });
        folder ||= bench.folder;
        return bench.dispatch;
      },
    });
    const commandId = "command-a-------";
    const params = { workingDir: folder };
    const create = { type: "call", id: 1, commandId, method: "session.create", params };
    const answers: unknown[] = [];
    const send = async (isCut: boolean) => {
      const link = linkConnection(daemon.hub.accept, owner);
      link.say(hello);
      await settled();
      if (isCut) link.stall();
      link.say(create);
      await until(daemon.store, async () => (await daemon.store.rows("session")).length > 0);
      for (let i = 0; i < 10; i += 1) await settled();
      link.cut();
      answers.push(...ofType(link.received, "result").map(({ value }) => value));
    };
    await send(true);
    expect(answers).toEqual([]);
    await send(false);
    await daemon.restart(false);
    await send(false);
    expect(answers).toEqual([{ sessionId: commandId }, { sessionId: commandId }]);
    expect(await daemon.store.rows("session")).toHaveLength(1);
  });
}

function inTheEnd(makeHarness: MakeHarness): void {
  test("[F1] [F3] [F4] [F9] every device has what it may see and keeps, whatever happened", async () => {
    await withSeeds(SEEDS, async (random) => {
      const packing = async () => {
        for (let n = random.below(4); n > 0; n -= 1) await settled();
      };
      const daemon = await makeFeedDaemon(await makeHarness(), { packing });
      const world = await FeedWorld.make(random, daemon);
      try {
        for (let i = 0; i < OPERATIONS; i += 1) {
          await world.step();
          if (i % 60 !== 59) continue;
          await world.settle();
          await world.check();
        }
      } catch (cause) {
        throw new Error(`after ${world.operations.join(", ")}: ${cause}`, { cause });
      }
    });
  }, 120_000);
}
