import { describe, expect, test } from "vitest";
import { type CommandId, toBase64Url } from "../../shared/ids.ts";
import { RECONNECT_MAX_MS } from "../../shared/limits.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { CommandMethod } from "../../shared/protocol/methods.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { MemoryReplica } from "../testing/memory-replica.ts";
import { sessionIdOf } from "../testing/rows.ts";
import { FakePage, makeWorkbench, type Workbench } from "../testing/workbench.ts";
import { Outbox } from "./outbox.ts";

const one = sessionIdOf("one");
const pin = { sessionId: one, pinned: true };
const prompt = (text: string) => ({ sessionId: one, text });

function command(page: FakePage, name: string, method: CommandMethod, params: unknown) {
  const commandId = toBase64Url(new TextEncoder().encode(name.padEnd(16))) as CommandId;
  const id = page.ask((asked) => ({ type: "command", id: asked, commandId, method, params }));
  return { commandId, id };
}

async function ask(
  bench: Workbench,
  page: FakePage,
  message: (id: number) => Parameters<FakePage["say"]>[0],
) {
  const id = page.ask(message);
  await bench.network.deliver();
  return page.answerTo(id);
}

const amend = (bench: Workbench, page: FakePage, commandId: CommandId, params: unknown) =>
  ask(bench, page, (id) => ({ type: "amend", id, commandId, params }));
const withdraw = (bench: Workbench, page: FakePage, commandId: CommandId) =>
  ask(bench, page, (id) => ({ type: "withdraw", id, commandId }));

async function goOffline(bench: Workbench): Promise<void> {
  bench.network.isReachable = false;
  bench.network.close();
  await bench.network.deliver();
}

async function goOnline(bench: Workbench): Promise<void> {
  bench.network.isReachable = true;
  await bench.clock.advance(RECONNECT_MAX_MS);
  await bench.network.deliver();
}

const refuse = () => {
  throw new Failure("session_gone", "There is no such session.");
};

describe("a command that waits", () => {
  test("[F5] can be amended, and is sent once, as amended, under its id", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    await goOffline(bench);
    const { commandId } = command(page, "a", "session.prompt", prompt("helo"));
    await bench.network.deliver();
    expect(await amend(bench, page, commandId, prompt("hello"))).toMatchObject({ value: true });
    expect(page.outbox).toMatchObject([{ commandId, params: prompt("hello"), state: "waiting" }]);
    expect(bench.replica.outboxEntries.get(commandId)?.params).toEqual(prompt("hello"));
    await goOnline(bench);
    expect(bench.daemon.calls("session.prompt")).toMatchObject([
      { commandId, params: prompt("hello") },
    ]);
  });

  test("[F5] is sent as another worker amended it", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    await goOffline(bench);
    const { commandId } = command(page, "a", "session.prompt", prompt("helo"));
    await bench.network.deliver();
    const other = new FakePage(bench.makeSync());
    await bench.network.deliver();
    expect(await amend(bench, other, commandId, prompt("hello"))).toMatchObject({ value: true });
    await goOnline(bench);
    const calls = bench.daemon.calls("session.prompt");
    // Both took it up: the daemon acts on one id once.
    expect(new Set(calls.map((call) => call.commandId))).toEqual(new Set([commandId]));
    for (const { params } of calls) expect(params).toEqual(prompt("hello"));
  });

  test("[F5] cannot be amended once it was sent, not even when the connection is lost", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = () => undefined;
    const { commandId } = command(page, "a", "session.prompt", prompt("hello"));
    await bench.network.deliver();
    expect(await amend(bench, page, commandId, prompt("bye"))).toMatchObject({ value: false });
    await goOffline(bench);
    expect(await amend(bench, page, commandId, prompt("bye"))).toMatchObject({ value: false });
    await goOnline(bench);
    const calls = bench.daemon.calls("session.prompt");
    expect(calls.map(({ params }) => params)).toEqual([prompt("hello"), prompt("hello")]);
  });

  test("can be amended while it is still being stored, and in memory when it could not be", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    await goOffline(bench);
    bench.replica.beforePut = () => Promise.reject(new Error("The disk is broken."));
    const { commandId } = command(page, "a", "session.prompt", prompt("helo"));
    const answer = await amend(bench, page, commandId, prompt("hello"));
    expect(answer).toMatchObject({ value: true });
    await goOnline(bench);
    const calls = bench.daemon.calls("session.prompt");
    expect(calls.map(({ params }) => params)).toEqual([prompt("hello")]);
  });
});

describe("a command that the daemon refused", () => {
  test("is told to the page that asked, and a prompt is kept with the reason until it is dismissed", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = refuse;
    const { commandId, id } = command(page, "a", "session.prompt", prompt("hello"));
    await bench.network.deliver();
    expect(page.answerTo(id)).toMatchObject({ error: { code: "session_gone" } });
    const refused = { commandId, state: "refused", error: { code: "session_gone" } };
    expect(page.outbox).toMatchObject([refused]);
    await goOffline(bench);
    await goOnline(bench);
    expect(bench.daemon.calls("session.prompt")).toHaveLength(1);
    const later = makeWorkbench({ replica: bench.replica });
    const reloaded = await later.page();
    expect(reloaded.outbox).toMatchObject([{ ...refused, params: prompt("hello") }]);
    expect(later.daemon.calls("session.prompt")).toEqual([]);
    expect(await withdraw(later, reloaded, commandId)).toMatchObject({ value: true });
    expect(reloaded.outbox).toEqual([]);
    expect(bench.replica.outboxEntries.size).toBe(0);
  });

  test("is kept, whatever it was, if the page that asked is gone", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    await goOffline(bench);
    const { commandId } = command(page, "a", "session.pin", pin);
    await bench.network.deliver();
    const later = makeWorkbench({ replica: bench.replica });
    later.daemon.onCall = refuse;
    const reloaded = await later.page();
    expect(reloaded.outbox).toMatchObject([
      { commandId, method: "session.pin", state: "refused", error: { code: "session_gone" } },
    ]);
  });

  test("is forgotten if the page heard of it and nobody wrote it", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = refuse;
    const { id } = command(page, "a", "session.pin", pin);
    await bench.network.deliver();
    expect(page.answerTo(id)).toMatchObject({ error: { code: "session_gone" } });
    expect([page.outbox, bench.replica.outboxEntries.size]).toEqual([[], 0]);
  });

  test("is refused for the reason that its session was not made for", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = ({ method }) => {
      if (method === "session.prompt") refuse();
      throw new Failure("folder_missing", "There is no folder /gone.");
    };
    const made = { workingDir: "/gone", model: null };
    const { commandId: sessionId } = command(page, "new", "session.create", made);
    command(page, "a", "session.prompt", { sessionId, text: "hello" });
    command(page, "b", "session.prompt", prompt("elsewhere"));
    await bench.network.deliver();
    expect(page.outbox).toMatchObject([
      { params: { text: "hello" }, state: "refused", error: { code: "folder_missing" } },
      { params: { text: "elsewhere" }, state: "refused", error: { code: "session_gone" } },
    ]);
  });

  test("does not hold up what follows it", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    bench.daemon.onCall = ({ params, commandId }) =>
      (params as { text: string }).text === "first"
        ? refuse()
        : { requestId: commandId, queued: false };
    command(page, "a", "session.prompt", prompt("first"));
    const { id } = command(page, "b", "session.prompt", prompt("second"));
    await bench.network.deliver();
    expect(page.answerTo(id)).toMatchObject({ type: "value" });
    expect(page.outbox).toMatchObject([{ state: "refused", params: prompt("first") }]);
    expect(await amend(bench, page, page.outbox[0]?.commandId as CommandId, pin)).toMatchObject({
      value: false,
    });
  });
});

describe("a command that was given to another worker before", () => {
  test("[F5] is not said to be withdrawn: it may have acted", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    await goOffline(bench);
    const { commandId } = command(page, "a", "session.pin", pin);
    await bench.network.deliver();
    await bench.replica.removeOutbox(commandId);
    const other = new FakePage(bench.makeSync());
    other.ask((id) => ({
      type: "command",
      id,
      commandId,
      method: "session.pin",
      params: pin,
      isAgain: true,
    }));
    await bench.network.deliver();
    expect(await withdraw(bench, other, commandId)).toMatchObject({ value: false });
    expect(other.outbox).toMatchObject([{ commandId, state: "sent" }]);
  });

  test("[F5] is told again that it was refused, and then forgotten if it is no prompt", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    const { commandId } = command(page, "a", "session.pin", pin);
    const error = { code: "session_gone", message: "It is gone.", retryable: false } as const;
    const refused = { commandId, method: "session.pin", params: pin, createdAt: 1, error } as const;
    await bench.network.deliver();
    await bench.replica.putOutbox({ ...refused, state: "refused" });
    const other = new FakePage(bench.makeSync());
    const answer = await ask(bench, other, (id) => ({
      type: "command",
      id,
      commandId,
      method: "session.pin",
      params: pin,
      isAgain: true,
    }));
    expect(answer).toMatchObject({ type: "failure", error });
    expect(other.outbox).toEqual([]);
    expect(bench.replica.outboxEntries.size).toBe(0);
  });

  test("waits as before if it is on disk and nobody has sent it", async () => {
    const bench = makeWorkbench();
    const page = await bench.page();
    await goOffline(bench);
    const { commandId } = command(page, "a", "session.pin", pin);
    await bench.network.deliver();
    const other = new FakePage(bench.makeSync());
    other.ask((id) => ({
      type: "command",
      id,
      commandId,
      method: "session.pin",
      params: pin,
      isAgain: true,
    }));
    await bench.network.deliver();
    expect(await withdraw(bench, other, commandId)).toMatchObject({ value: true });
  });
});

test("[F5] what is withdrawn while it waits to be stored late does not come back from the disk", async () => {
  const replica = new MemoryReplica();
  let isFull = true;
  const outbox = new Outbox({
    store: {
      outbox: () => replica.outbox(),
      putOutbox: async (entry) => {
        if (isFull) throw new DOMException("full", "QuotaExceededError");
        await replica.putOutbox(entry);
      },
      claimOutbox: (id) => replica.claimOutbox(id),
      amendOutbox: (id, params) => replica.amendOutbox(id, params),
      withdrawOutbox: (id) => replica.withdrawOutbox(id),
      removeOutbox: (id) => replica.removeOutbox(id),
    },
    clock: new FakeClock(),
    call: () => Promise.reject(new Error("nothing is sent here")),
    isReady: () => false,
    makeRoom: async () => false,
    isAwaited: () => true,
    changed: () => {},
    settled: () => {},
    report: () => {},
  });
  const commandId = toBase64Url(new TextEncoder().encode("withdrawn".padEnd(16))) as CommandId;
  await outbox.add({ commandId, method: "session.prompt", params: prompt("no") });
  isFull = false;
  const loading = outbox.load();
  // Its turn comes right after the reading, before the late storing that the reading leads to.
  const withdrawing = outbox.withdraw(commandId);
  expect(await withdrawing).toBe(true);
  await loading;
  // Has its turn after what is still to be stored.
  expect(await outbox.withdraw(commandId)).toBe(false);
  expect(replica.outboxEntries.size).toBe(0);
});
