// Pages and fills that are packed, for those who can read it.

import { describe, expect, test } from "vitest";
import { CHUNK_COALESCE_MS, PACK_MIN_BYTES } from "../../shared/limits.ts";
import { makeFeedClient } from "../testing/feed-client.ts";
import { makeFeedDaemon, type StoreHarness } from "../testing/feed-daemon.ts";
import {
  plainText,
  sampleDeviceId,
  sampleSession,
  sampleSessionId,
  sampleTurn,
} from "../testing/sample-rows.ts";

type MakeHarness = () => Promise<StoreHarness>;

const session = sampleSessionId("session-a");
const packings = ["something-newer", "deflate-raw"];
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

/** `gate`: what packing waits for. */
async function setUp(makeHarness: MakeHarness, gate: () => Promise<void> = async () => {}) {
  let packedCount = 0;
  const packing = () => {
    packedCount += 1;
    return gate();
  };
  const daemon = await makeFeedDaemon(await makeHarness(), { packing });
  const { store, hub, clock } = daemon;
  await store.write((tx) => tx.put("session", session, session, sampleSession()));
  let devices = 0;
  return {
    store,
    hub,
    clock,
    packed: () => packedCount,
    join(canUnpack: boolean) {
      devices += 1;
      const id = sampleDeviceId(`device-${devices}`);
      const client = makeFeedClient(hub.accept, id, { packings: canUnpack ? packings : [] });
      client.connect();
      return client;
    },
    putTurn: (id: number, text: string, state: "done" | "streaming" = "done") =>
      store.write((tx) =>
        tx.put("turn", session, `${id}`, sampleTurn({ state, answer: plainText(text) })),
      ),
  };
}

export function packingContract(name: string, makeHarness: MakeHarness): void {
  describe(`${name}: packing`, () => packing(makeHarness));
}

function packing(makeHarness: MakeHarness): void {
  test("[K1] packs what is long, once for all who can read it, and for nobody else", async () => {
    const { join, putTurn, packed } = await setUp(makeHarness);
    const able = [join(true), join(true), join(true)];
    const unable = join(false);
    await settled();
    await putTurn(1, "short");
    await settled();
    expect([packed(), able[0]?.link.packedCount]).toEqual([0, 0]);
    await putTurn(2, "a long answer ".repeat(PACK_MIN_BYTES));
    await settled();
    expect(packed()).toBe(1);
    expect(able.map(({ link }) => link.packedCount)).toEqual([1, 1, 1]);
    expect(unable.link.packedCount).toBe(0);
    for (const client of able) expect(client.rows()).toEqual(unable.rows());
  });

  test("[K1] packs fills too", async () => {
    const { join, putTurn } = await setUp(makeHarness);
    await putTurn(1, "a long answer ".repeat(PACK_MIN_BYTES));
    const client = join(true);
    await settled();
    client.leave(session);
    const { packedCount } = client.link;
    client.keep(session);
    await settled();
    expect(client.link.packedCount).toBe(packedCount + 1);
    expect(client.rows()).toHaveLength(2);
  });

  test("sends no part of a fill that was called off or begun anew while it was packed", async () => {
    let waiting: (() => void)[] = [];
    const gate = () => new Promise<void>((resolve) => waiting.push(resolve));
    const go = async () => {
      for (const resume of waiting) resume();
      waiting = [];
      await settled();
    };
    const { join, putTurn } = await setUp(makeHarness, gate);
    const client = join(true);
    await settled();
    client.leave(session);
    await putTurn(1, "a long answer ".repeat(PACK_MIN_BYTES));
    client.keep(session);
    await settled();
    client.leave(session);
    await go();
    const fills = () => client.link.received.filter(({ type }) => type === "fill");
    expect(fills()).toEqual([]);
    client.link.say({ type: "keep", sessionId: session });
    await settled();
    client.keep(session);
    await settled();
    await go();
    await go();
    expect(fills()).toMatchObject([{ isFirst: true, isLast: true }]);
    expect(client.rows()).toHaveLength(2);
  });

  test("[F6] lets no live event overtake a page that is being packed", async () => {
    const waiting: (() => void)[] = [];
    const gate = () => new Promise<void>((resolve) => waiting.push(resolve));
    const { join, putTurn, hub, store, clock } = await setUp(makeHarness, gate);
    const client = join(true);
    await settled();
    client.watch(session);
    await putTurn(1, "what was said before ".repeat(PACK_MIN_BYTES), "streaming");
    const stream = hub.live.openStream(session, 1, store.head);
    stream.append("reasoning", "hm");
    hub.live.publish(session, { type: "session.doing", doing: "Thinking" }, store.head);
    await clock.advance(CHUNK_COALESCE_MS);
    const types = () => client.link.received.map(({ type }) => type);
    expect(types().filter((type) => type === "page")).toHaveLength(1);
    expect(client.chunks).toEqual([]);
    for (const go of waiting) go();
    await clock.advance(CHUNK_COALESCE_MS);
    expect(types().filter((type) => type === "page")).toHaveLength(2);
    expect(client.painted(session, 1, "reasoning")).toBe("hm");
  });
}
