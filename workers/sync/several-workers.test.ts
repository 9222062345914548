import { describe, expect, test } from "vitest";
import { RECONNECT_MAX_MS } from "../../shared/limits.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import { noSession, requestIdOf, requestRow, sessionIdOf, sessionRow } from "../testing/rows.ts";
import { type FakePage, makeWorkbench, type Workbench } from "../testing/workbench.ts";

const one = sessionIdOf("one");
const two = sessionIdOf("two");
const request = requestIdOf("r1");

/** A page that has session one open and loses its connection. */
async function disconnectedPage(bench: Workbench): Promise<FakePage> {
  bench.daemon.write(sessionRow(two), sessionRow(one));
  const page = await bench.page();
  page.say({ type: "open", sessionId: one });
  await bench.network.deliver();
  bench.network.isReachable = false;
  bench.network.close();
  await bench.network.deliver();
  return page;
}

async function reconnect(bench: Workbench): Promise<void> {
  bench.network.isReachable = true;
  await bench.clock.advance(RECONNECT_MAX_MS);
  await bench.network.deliver();
}

/** What another worker of this browser does with what the daemon sends it. */
async function storeBeside({ replica, daemon }: Workbench): Promise<void> {
  const { epoch, head } = daemon;
  const { cursor, fills } = replica.stored;
  const changes: Change[] = [...daemon.rows.values()].filter(({ rev }) => rev > cursor);
  await replica.storePage({
    epoch,
    connection: "beside",
    fills,
    base: cursor,
    changes,
    leftOut: [],
    upto: head,
    token: `token-${head}`,
    at: 0,
  });
}

const resets = (page: FakePage): number =>
  page.told.filter((message) => message.type === "rows" && message.reset).length;

describe("a page whose worker is not the only one", () => {
  test("[F3] is shown what another worker stored while its own had no connection", async () => {
    const bench = makeWorkbench();
    const page = await disconnectedPage(bench);
    bench.daemon.write(requestRow(one, request, 1), noSession(two));
    await storeBeside(bench);
    await reconnect(bench);
    expect(page.ids("request")).toEqual([request]);
    expect(page.ids("session")).toEqual([one]);
  });

  test("[F4] forgets what another worker forgot at a resync", async () => {
    const bench = makeWorkbench();
    const page = await disconnectedPage(bench);
    bench.daemon.rows.clear();
    bench.daemon.write(sessionRow(one, { title: "Restored" }));
    await bench.replica.restart(bench.daemon.epoch, []);
    await storeBeside(bench);
    await reconnect(bench);
    expect(page.ids("session")).toEqual([one]);
  });

  test("keeps what it shows if nobody else has stored anything", async () => {
    const bench = makeWorkbench();
    const page = await disconnectedPage(bench);
    const before = resets(page);
    await reconnect(bench);
    expect(page.state?.kind).toBe("live");
    expect(resets(page)).toBe(before);
  });
});

test("what a page opened is not wiped by a list of sessions that takes longer to read", async () => {
  const bench = makeWorkbench();
  bench.daemon.write(sessionRow(one), requestRow(one, request, 1));
  await bench.page();
  const rail = bench.replica.rail.bind(bench.replica);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  bench.replica.rail = () => released.then(rail);
  const page = await bench.page();
  page.say({ type: "open", sessionId: one });
  await bench.network.deliver();
  release();
  await bench.network.deliver();
  expect(page.ids("request")).toEqual([request]);
});
