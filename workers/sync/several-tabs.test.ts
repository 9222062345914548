import { describe, expect, test } from "vitest";
import type { CommandId } from "../../shared/ids.ts";
import { FakeBrowser, type FakeScope } from "../testing/fake-browser.ts";
import { requestIdOf, requestRow, sessionIdOf, sessionRow } from "../testing/rows.ts";
import { makeBytes, makeWorkbench, type Workbench } from "../testing/workbench.ts";
import type { SyncMessage } from "./port.ts";
import { SyncProxy } from "./proxy.ts";
import { TabWorker } from "./tab-worker.ts";

const one = sessionIdOf("one");

/** A tab with the real thing inside: proxy, worker, and an engine if it comes to lead. */
interface RealTab {
  readonly scope: FakeScope;
  readonly proxy: SyncProxy;
  readonly rows: string[];
}

function openTab(bench: Workbench, browser: FakeBrowser, number: number): RealTab {
  const scope = browser.scope();
  const life = `tab ${number}`;
  void scope.locks.request(life, {}, () => new Promise(() => {}));
  const worker = new TabWorker({
    build: "build",
    life,
    locks: scope.locks,
    openChannel: scope.openChannel,
    clock: bench.clock,
    random: () => 0,
    post: (message) => scope.task(() => proxy.receive(message)),
    lead: () => {
      const sync = bench.makeSync();
      return (post) => sync.accept(post);
    },
    stepDown: () => scope.end(),
    report: (error) => bench.faults.push(error),
  });
  const attach = () => {
    const renderPort = { postMessage() {}, close() {} };
    proxy.post({ type: "attach", renderPort, enrolment: null, deviceName: "Test" });
    proxy.post({ type: "open", sessionId: one });
  };
  const proxy: SyncProxy = new SyncProxy(
    { postMessage: (message) => scope.task(() => worker.receive(message)) },
    makeBytes(number),
    {
      alive() {},
      succeeded() {
        attach();
        proxy.askAgain();
      },
    },
  );
  const rows: string[] = [];
  proxy.listen((message: SyncMessage) => {
    if (message.type === "rows") rows.push(...message.changes.map(({ id }) => id));
  });
  worker.start();
  attach();
  return { scope, proxy, rows };
}

async function openTabs(bench: Workbench, count: number): Promise<RealTab[]> {
  const browser = new FakeBrowser();
  const tabs = Array.from({ length: count }, (_, number) => openTab(bench, browser, number));
  await bench.network.deliver();
  return tabs;
}

const pin = { sessionId: one, pinned: true };
const commandIds = ({ daemon }: Workbench) => daemon.calls("session.pin").map((c) => c.commandId);

describe("tabs that share one engine", () => {
  test("cost one socket, and each is told of what changes", async () => {
    const bench = makeWorkbench();
    bench.daemon.write(sessionRow(one));
    const tabs = await openTabs(bench, 10);
    expect(bench.network.opened).toBe(1);
    bench.daemon.write(requestRow(one, requestIdOf("r1"), 1));
    await bench.network.deliver();
    for (const { rows } of tabs) expect(rows).toContain(requestIdOf("r1"));
  });

  test("[F5] ask again what the leader took with it, under the same id", async () => {
    const bench = makeWorkbench();
    bench.daemon.write(sessionRow(one));
    const [leader, follower] = await openTabs(bench, 2);
    if (leader === undefined || follower === undefined) throw new Error("No tabs");
    leader.scope.freeze();
    const { commandId, answer } = follower.proxy.command("session.pin", pin);
    await bench.network.deliver();
    expect(commandIds(bench)).toEqual([]);
    leader.scope.end();
    await bench.network.deliver();
    expect(await answer).toEqual({});
    expect(commandIds(bench)).toEqual([commandId]);
  });

  test("[F5] hear of a command that the leader had sent before it ended", async () => {
    const bench = makeWorkbench();
    bench.daemon.write(sessionRow(one));
    const [leader, follower] = await openTabs(bench, 2);
    if (leader === undefined || follower === undefined) throw new Error("No tabs");
    bench.daemon.onCall = () => undefined;
    const { commandId, answer } = follower.proxy.command("session.pin", pin);
    await bench.network.deliver();
    expect(bench.replica.outboxEntries.get(commandId as CommandId)?.state).toBe("sent");
    bench.daemon.onCall = () => ({});
    leader.scope.end();
    await bench.network.deliver();
    expect(await answer).toEqual({});
    expect(new Set(commandIds(bench))).toEqual(new Set([commandId]));
    expect(bench.replica.outboxEntries.size).toBe(0);
  });
});
