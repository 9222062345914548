import { beforeEach, describe, expect, test } from "vitest";
import type { CommandId } from "../../shared/ids.ts";
import type { RenderInput } from "../render/port.ts";
import { FakeBrowser, type FakeScope } from "../testing/fake-browser.ts";
import { FakeClock, flushPromises } from "../testing/fake-clock.ts";
import { sessionIdOf } from "../testing/rows.ts";
import { PATIENCE_MS, PATIENCE_SPREAD_MS, PING_MS } from "./follower.ts";
import type { PageMessage, SyncMessage } from "./port.ts";
import { type HallMessage, hallName } from "./relay.ts";
import { TabWorker } from "./tab-worker.ts";

const one = sessionIdOf("one");
const NOTICED_MS = PING_MS + PATIENCE_MS + PATIENCE_SPREAD_MS;

/** What one page has said to an engine, in order. */
interface Served {
  readonly said: PageMessage[];
  readonly post: (message: SyncMessage) => void;
}

/** A tab: its page and its worker, whose engine records. */
class FakeTab {
  readonly scope: FakeScope;
  readonly clock = new FakeClock();
  readonly told: SyncMessage[] = [];
  readonly rendered: RenderInput[] = [];
  /** The pages that its engine serves; null while it has none. */
  served: Served[] | null = null;
  readonly #worker: TabWorker;
  readonly #open: PageMessage[] = [];

  constructor(browser: FakeBrowser, name: string, build = "build") {
    this.scope = browser.scope();
    void this.scope.locks.request(name, {}, () => new Promise(() => {}));
    this.#worker = new TabWorker({
      build,
      life: name,
      locks: this.scope.locks,
      openChannel: this.scope.openChannel,
      clock: this.clock,
      random: () => 0,
      post: (message) => {
        this.told.push(message);
        if (message.type === "successor") this.attach();
      },
      lead: () => {
        const served: Served[] = [];
        this.served = served;
        return (post) => {
          const said: PageMessage[] = [];
          served.push({ said, post });
          post({ type: "alive", lock: name });
          return (message) => void said.push(message);
        };
      },
      stepDown: () => this.scope.end(),
      report: (error) => {
        throw error;
      },
    });
    this.#worker.start();
  }

  attach(secret: string | null = null): void {
    const renderPort = {
      postMessage: (input: RenderInput) => void this.rendered.push(input),
      close: () => {},
    };
    const enrolment = secret === null ? null : ({ kind: "launch", secret } as const);
    this.say({ type: "attach", renderPort, enrolment, deviceName: "Test" });
    for (const message of this.#open) this.say(message);
  }

  open(): void {
    const message: PageMessage = { type: "open", sessionId: one };
    this.#open.push(message);
    this.say(message);
  }

  say(message: PageMessage): void {
    this.#worker.receive(message);
  }
}

const draft = (text: string): PageMessage => ({ type: "draft", sessionId: one, text });
const wait = (tabs: FakeTab[], ms: number) =>
  Promise.all(tabs.map(({ clock, scope }) => (scope.isEnded ? null : clock.advance(ms))));
const successors = ({ told }: FakeTab) => told.filter(({ type }) => type === "successor").length;
/** What the engine of `leader` was told by the page that came as number `index`. */
const said = (leader: FakeTab, index: number) => leader.served?.[index]?.said ?? [];
const types = (messages: readonly { type: string }[]) => messages.map(({ type }) => type);

let browser: FakeBrowser;
let first: FakeTab;
let second: FakeTab;

beforeEach(async () => {
  browser = new FakeBrowser();
  first = new FakeTab(browser, "first");
  first.attach();
  await flushPromises();
  second = new FakeTab(browser, "second");
  second.attach();
  await flushPromises();
});

describe("the workers of a browser's tabs", () => {
  test("run one engine for all pages", async () => {
    const third = new FakeTab(browser, "third");
    third.attach();
    await flushPromises();
    expect(first.served).toHaveLength(3);
    expect([second.served, third.served]).toEqual([null, null]);
    expect(types(said(first, 2))).toEqual(["attach"]);
  });

  test("relay what a page says and what it is told, in order", async () => {
    const query: PageMessage = { type: "query", id: 1, method: "model.list", params: {} };
    second.open();
    second.say(query);
    await flushPromises();
    expect(said(first, 1).slice(1)).toEqual([{ type: "open", sessionId: one }, query]);
    const engine = first.served?.[1];
    engine?.post({ type: "outbox", entries: [] });
    engine?.post({ type: "value", id: 1, value: "x" });
    await flushPromises();
    expect(second.told.slice(1)).toEqual([
      { type: "outbox", entries: [] },
      { type: "value", id: 1, value: "x" },
    ]);
    expect(types(first.told)).toEqual(["alive"]);
  });

  test("bring the text of a running turn to the renderer of the right page", async () => {
    const attach = said(first, 1)[0];
    const chunk: RenderInput = { type: "chunk", key: "k", offset: 0, text: "word" };
    if (attach?.type === "attach") attach.renderPort.postMessage(chunk);
    await flushPromises();
    expect([first.rendered, second.rendered]).toEqual([[], [chunk]]);
  });

  test("tell each page of the lock of its own worker, once", async () => {
    expect(second.told).toEqual([{ type: "alive", lock: "second" }]);
    first.scope.end();
    await flushPromises();
    expect(second.told.filter(({ type }) => type === "alive")).toHaveLength(1);
  });

  test("attach once, however often they are let in", async () => {
    const hall = browser.scope().openChannel<HallMessage, HallMessage>(hallName("build"));
    hall.post({ type: "join", leader: "first", follower: "second" });
    await flushPromises();
    expect(types(second.told)).toEqual(["alive"]);
    expect(first.served).toHaveLength(2);
  });

  test("forget a page whose tab is gone", async () => {
    second.scope.end();
    await flushPromises();
    expect(said(first, 1).at(-1)).toEqual({ type: "detach" });
  });

  test("of another build have an engine of their own", async () => {
    const newer = new FakeTab(browser, "newer", "newer build");
    newer.attach();
    await flushPromises();
    expect(newer.served).toHaveLength(1);
    expect(first.served).toHaveLength(2);
  });
});

describe("when the leader's tab ends", () => {
  test("another leads, and every page attaches to its engine anew", async () => {
    const third = new FakeTab(browser, "third");
    third.attach();
    await flushPromises();
    first.scope.end();
    await flushPromises();
    expect(second.served).toHaveLength(2);
    expect([successors(second), successors(third)]).toEqual([1, 1]);
    expect([types(said(second, 0)), types(said(second, 1))]).toEqual([["attach"], ["attach"]]);
    third.open();
    await flushPromises();
    expect(said(second, 1).at(-1)).toEqual({ type: "open", sessionId: one });
  });

  test("a draft that it did not take up any more reaches the next, and what is said again does not twice", async () => {
    const commandId = "c".repeat(22) as CommandId;
    second.say(draft("taken up"));
    await flushPromises();
    first.scope.freeze();
    second.say(draft("half"));
    second.say({ type: "command", id: 1, commandId, method: "session.undo", params: {} });
    second.say({ type: "alive", lock: "a page that attaches under another lock" });
    first.scope.end();
    second.say(draft("whole"));
    await flushPromises();
    expect(said(second, 0).slice(1)).toEqual([draft("half"), draft("whole")]);
  });

  test("a launch link that it did not take up any more is tried by the next", async () => {
    const third = new FakeTab(browser, "third");
    await flushPromises();
    first.scope.freeze();
    third.attach("of one that had joined");
    const fourth = new FakeTab(browser, "fourth");
    fourth.attach("of one that had not");
    await flushPromises();
    first.scope.end();
    await flushPromises();
    expect(second.served?.flatMap(({ said }) => said)).toEqual(
      expect.arrayContaining([
        { type: "enrol", enrolment: { kind: "launch", secret: "of one that had joined" } },
        expect.objectContaining({ enrolment: { kind: "launch", secret: "of one that had not" } }),
      ]),
    );
  });
});

describe("a leader that has stopped answering", () => {
  test("loses the lead to a page that someone sees, within seconds", async () => {
    first.scope.freeze();
    await wait([second], NOTICED_MS);
    expect(second.served).toHaveLength(1);
    expect(successors(second)).toBe(1);
  });

  test("loses it at once when someone comes back to a page", async () => {
    second.say({ type: "visible", isVisible: false });
    first.scope.freeze();
    second.say(draft("saved as the page was hidden"));
    await wait([second], 3_600_000);
    expect(second.served).toBeNull();
    second.say({ type: "visible", isVisible: true });
    await wait([second], PATIENCE_MS);
    expect(second.served).toHaveLength(1);
  });

  test("steps down when it wakes, and is obeyed by nobody, whatever it still says", async () => {
    const third = new FakeTab(browser, "third");
    third.attach();
    third.say({ type: "visible", isVisible: false });
    await flushPromises();
    first.scope.freeze();
    const late = new FakeTab(browser, "late");
    late.attach();
    await wait([second], NOTICED_MS);
    expect(second.served).toHaveLength(3);
    first.scope.thaw();
    await flushPromises();
    expect(first.scope.isEnded).toBe(true);
    expect([successors(third), successors(late)]).toEqual([1, 0]);
    for (const tab of [third, late]) tab.open();
    await wait([second, third, late], 60_000);
    const opened = second.served?.filter(({ said }) => said.at(-1)?.type === "open");
    expect(opened).toHaveLength(2);
    expect([third.served, late.served]).toEqual([null, null]);
  });

  test("keeps the lead while it answers, however long that goes", async () => {
    await wait([first, second], 600_000);
    expect(second.served).toBeNull();
    expect(successors(second)).toBe(0);
  });

  test("keeps it when it was the follower that slept", async () => {
    second.scope.freeze();
    second.say({ type: "wake" });
    second.clock.sleep(60_000);
    await second.clock.advance(0);
    second.scope.thaw();
    await wait([second], 60_000);
    expect(second.served).toBeNull();
  });

  test("has one heir even if several pages notice it at the same moment", async () => {
    const third = new FakeTab(browser, "third");
    third.attach();
    await flushPromises();
    first.scope.freeze();
    await wait([second, third], NOTICED_MS);
    first.scope.thaw();
    await wait([second, third], 60_000);
    const leading = [first, second, third].filter(
      ({ served, scope }) => served !== null && !scope.isEnded,
    );
    expect(leading).toHaveLength(1);
  });
});
