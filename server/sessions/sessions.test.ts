import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import type { SessionId } from "../../shared/ids.ts";
import { PROMPT_MAX_BYTES, STREAM_SAVE_MS } from "../../shared/limits.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import { makeFullDisk } from "../testing/full-disk.ts";
import {
  freshCommandId,
  makeSessionBench,
  type SessionBench,
  until,
} from "../testing/session-bench.ts";
import { openStoreAt, openTemporaryStore } from "../testing/temporary-store.ts";
import type { Tool, ToolContext } from "../tools/tool.ts";

const codeOf = async (outcome: Promise<unknown>): Promise<string> => {
  try {
    await outcome;
    return "no failure";
  } catch (error) {
    return error instanceof Failure ? error.wire.code : `a bug: ${String(error)}`;
  }
};

const statesOf = async (bench: SessionBench, sessionId: SessionId) =>
  (await bench.store.rows("request", sessionId)).map(({ row }) => row.state);

const sessionRow = async (bench: SessionBench, sessionId: SessionId) =>
  (await bench.store.row("session", sessionId, sessionId))?.row;

async function answered(bench: SessionBench, sessionId: SessionId, text: string): Promise<string> {
  const { requestId } = await bench.send("session.prompt", { sessionId, text });
  const turn = await bench.provider.turn();
  turn.answer(`Answer to ${text}`);
  turn.done();
  await bench.idle(sessionId);
  return requestId;
}

function makeHangingTool(): { tool: Tool; started: Promise<ToolContext> } {
  let start: (context: ToolContext) => void = () => {};
  const started = new Promise<ToolContext>((resolve) => {
    start = resolve;
  });
  const tool: Tool = {
    name: "hang",
    group: "core",
    description: "Never ends.",
    parameters: z.object({}),
    timeoutMs: 60_000,
    describe: () => "Hung",
    run: (_, context) => {
      start(context);
      return new Promise(() => {});
    },
  };
  return { tool, started };
}

const quick: Tool = {
  name: "quick",
  group: "core",
  description: "Ends at once.",
  parameters: z.object({}),
  timeoutMs: 60_000,
  describe: () => "Was quick",
  run: async () => ({ text: "finished", isError: false }),
};

describe("a session", () => {
  test("[R4] is made in a folder that exists, with the branch of its repository", async () => {
    const bench = await makeSessionBench();
    await mkdir(join(bench.folder, ".git"));
    await writeFile(join(bench.folder, ".git", "HEAD"), "ref: refs/heads/topic/x\n");
    const commandId = freshCommandId();
    const { sessionId } = await bench.send("session.create", { workingDir: "~" }, commandId);
    expect(sessionId).toBe(commandId);
    expect(await sessionRow(bench, sessionId)).toMatchObject({
      workingDir: bench.folder,
      shownDir: "~",
      branch: "topic/x",
      model: "scripted/model",
      title: "New session",
      titled: false,
      state: "idle",
    });
  });

  test("is refused for folders and models that are not there", async () => {
    const bench = await makeSessionBench();
    await writeFile(join(bench.folder, "file"), "");
    const create = (workingDir: string, model?: string) =>
      codeOf(bench.send("session.create", { workingDir, ...(model !== undefined && { model }) }));
    expect(await create("/no/such/folder")).toBe("folder_missing");
    expect(await create(join(bench.folder, "file"))).toBe("folder_missing");
    expect(await create("nul\0")).toBe("folder_missing");
    expect(await create(bench.folder, "nobody/model")).toBe("model_unknown");
    expect(await create(bench.folder, "scripted/other")).toBe("model_unknown");
    expect(await bench.store.rows("session")).toEqual([]);
  });

  test("can be renamed, pinned and archived; looking moves nothing", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    await bench.clock.advance(1_000);
    await bench.send("session.pin", { sessionId, pinned: true });
    await bench.send("session.archive", { sessionId, archived: true });
    const before = await sessionRow(bench, sessionId);
    expect(before).toMatchObject({ pinned: true, archivedAt: bench.clock.now() });
    expect(before?.modifiedAt).toBe(before?.createdAt);
    await bench.send("session.rename", { sessionId, title: "  Mine " });
    await bench.send("session.archive", { sessionId, archived: false });
    expect(await sessionRow(bench, sessionId)).toMatchObject({
      title: "Mine",
      titled: true,
      archivedAt: null,
      modifiedAt: bench.clock.now(),
    });
    await answered(bench, sessionId, "A prompt");
    expect((await sessionRow(bench, sessionId))?.title).toBe("Mine");
  });

  test("has a title of one line that shows", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const renamed = async (title: string) => {
      await bench.send("session.rename", { sessionId, title });
      return (await sessionRow(bench, sessionId))?.title;
    };
    expect(await renamed("one\n  two\tthree")).toBe("one two three");
    expect(await renamed("a\u202eb")).toBe("a\\u{202e}b");
    expect(await renamed("\u001b[0m")).toBe("New session");
  });

  test("[M2] that is gone is said to be gone by every command", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    await bench.send("session.delete", { sessionId });
    const attempts = [
      bench.send("session.rename", { sessionId, title: "x" }),
      bench.send("session.pin", { sessionId, pinned: true }),
      bench.send("session.archive", { sessionId, archived: true }),
      bench.send("session.delete", { sessionId }),
      bench.send("session.prompt", { sessionId, text: "x" }),
      bench.send("session.stop", { sessionId }),
      bench.send("session.continue", { sessionId }),
      bench.send("session.undo", { sessionId }),
      bench.send("session.redo", { sessionId }),
    ];
    expect(await Promise.all(attempts.map(codeOf))).toEqual(Array(9).fill("session_gone"));
  });

  test("refuses prompts that are empty or too large, counted in bytes", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const prompt = (text: string) => codeOf(bench.send("session.prompt", { sessionId, text }));
    expect(await prompt("")).toBe("bad_params");
    expect(await prompt(" \n ")).toBe("bad_params");
    expect(await prompt("é".repeat(PROMPT_MAX_BYTES / 2 + 1))).toBe("too_large");
    expect(await prompt("x".repeat(PROMPT_MAX_BYTES + 1))).toBe("too_large");
    expect(await statesOf(bench, sessionId)).toEqual([]);
  });
});

describe("the queue", () => {
  test("holds prompts while one runs and lets them run in the order they came", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    await bench.send("session.prompt", { sessionId, text: "one" });
    expect(await bench.send("session.prompt", { sessionId, text: "two" })).toMatchObject({
      queued: true,
    });
    expect(await bench.send("session.prompt", { sessionId, text: "three" })).toMatchObject({
      queued: true,
    });
    expect(await statesOf(bench, sessionId)).toEqual(["running", "queued", "queued"]);
    for (const text of ["one", "two", "three"]) {
      const turn = await bench.provider.turn();
      expect(turn.request.messages.at(-1)).toEqual({ role: "user", text });
      expect((await sessionRow(bench, sessionId))?.state).toBe("running");
      turn.answer(text);
      turn.done();
    }
    await bench.idle(sessionId);
    expect(await statesOf(bench, sessionId)).toEqual(["done", "done", "done"]);
    expect((await sessionRow(bench, sessionId))?.turnCount).toBe(3);
  });

  test("stop ends all that runs and waits; stopping one lets the next run", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const first = await bench.send("session.prompt", { sessionId, text: "one" });
    const second = await bench.send("session.prompt", { sessionId, text: "two" });
    const third = await bench.send("session.prompt", { sessionId, text: "three" });
    await bench.provider.turn();
    expect(await bench.send("session.stop", { sessionId, requestId: second.requestId })).toEqual({
      requestIds: [second.requestId],
    });
    expect(await bench.send("session.stop", { sessionId, requestId: first.requestId })).toEqual({
      requestIds: [first.requestId],
    });
    expect(await statesOf(bench, sessionId)).toEqual(["cancelled", "cancelled", "running"]);
    const turn = await bench.provider.turn();
    // What was taken out of the queue was never said to the model; what was begun was.
    expect(turn.request.messages).toEqual([
      { role: "user", text: "one" },
      { role: "user", text: "three" },
    ]);
    const fourth = await bench.send("session.prompt", { sessionId, text: "four" });
    expect(await bench.send("session.stop", { sessionId })).toEqual({
      requestIds: [third.requestId, fourth.requestId],
    });
    expect(await bench.send("session.stop", { sessionId })).toEqual({ requestIds: [] });
    expect(
      await codeOf(bench.send("session.stop", { sessionId, requestId: sessionId as never })),
    ).toBe("request_gone");
    expect((await sessionRow(bench, sessionId))?.state).toBe("idle");
    expect(turn.signal.aborted).toBe(true);
    expect(bench.live.doing().at(-1)).toBeNull();
  });
});

describe("stopping", () => {
  test("in mid-stream keeps the text, and nothing said later is added", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const { requestId } = await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    const heard = new Promise<void>((resolve) => {
      bench.live.onAppend = () => resolve();
    });
    turn.answer("Half an ans");
    await heard;
    await bench.send("session.stop", { sessionId });
    turn.answer("wer");
    turn.done();
    expect(await bench.turn(sessionId, 1)).toMatchObject({
      state: "cancelled",
      answer: { head: "Half an ans" },
    });
    expect(await bench.request(sessionId, requestId)).toMatchObject({
      state: "cancelled",
      error: null,
    });
    expect(bench.live.streams[0]?.isEnded).toBe(true);
  });

  test("in mid-tool keeps finished results and gives the others one that says why", async () => {
    const { tool, started } = makeHangingTool();
    const bench = await makeSessionBench({ tools: [tool, quick] });
    const sessionId = await bench.newSession();
    await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    turn.call("quick", {});
    turn.call("hang", {});
    turn.done();
    const context = await started;
    context.emit("so far");
    await until(
      bench.store,
      async () => (await bench.store.rows("toolResult", sessionId)).length === 1,
    );
    await bench.send("session.stop", { sessionId });
    expect(context.signal.aborted).toBe(true);
    const row = await bench.turn(sessionId, 1);
    expect(row.state).toBe("cancelled");
    expect(row.calls.map((call) => call.state)).toEqual(["done", "cancelled"]);
    const results = (await bench.store.rows("toolResult", sessionId)).map((each) => each.row);
    expect(results).toMatchObject([
      { output: { head: "finished" }, isError: false },
      {
        output: { head: "so far\ncancelled: the user stopped this before it finished." },
        isError: true,
      },
    ]);
  });
});

describe("continue", () => {
  test("goes on after a cancelled request with all that was said", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    expect(await codeOf(bench.send("session.continue", { sessionId }))).toBe("nothing_to_continue");
    await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    const heard = new Promise<void>((resolve) => {
      bench.live.onAppend = () => resolve();
    });
    turn.answer("Half");
    await heard;
    expect(await codeOf(bench.send("session.continue", { sessionId }))).toBe("session_busy");
    await bench.send("session.stop", { sessionId });
    const { requestId } = await bench.send("session.continue", { sessionId });
    expect((await bench.request(sessionId, requestId)).kind).toBe("continue");
    const next = await bench.provider.turn();
    expect(next.request.messages).toEqual([
      { role: "user", text: "Go" },
      { role: "assistant", text: "Half", calls: [] },
      { role: "user", text: "Continue from where you stopped." },
    ]);
    next.done();
    await bench.idle(sessionId);
    expect(await codeOf(bench.send("session.continue", { sessionId }))).toBe("nothing_to_continue");
  });
});

describe("undo and redo", () => {
  test("[R3] take requests away and bring them back, several levels deep; a new prompt ends redo", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    expect(await codeOf(bench.send("session.undo", { sessionId }))).toBe("nothing_to_undo");
    const one = await answered(bench, sessionId, "one");
    const two = await answered(bench, sessionId, "two");
    expect(await codeOf(bench.send("session.redo", { sessionId }))).toBe("nothing_to_redo");
    expect(await bench.send("session.undo", { sessionId })).toEqual({ requestIds: [two] });
    expect(await bench.send("session.undo", { sessionId })).toEqual({ requestIds: [one] });
    expect(await bench.send("session.redo", { sessionId })).toEqual({ requestIds: [one] });
    await bench.send("session.prompt", { sessionId, text: "three" });
    const turn = await bench.provider.turn();
    expect(turn.request.messages).toEqual([
      { role: "user", text: "one" },
      { role: "assistant", text: "Answer to one", calls: [] },
      { role: "user", text: "three" },
    ]);
    expect(await codeOf(bench.send("session.undo", { sessionId }))).toBe("session_busy");
    expect(await codeOf(bench.send("session.redo", { sessionId }))).toBe("session_busy");
    turn.done();
    await bench.idle(sessionId);
    expect(await codeOf(bench.send("session.redo", { sessionId }))).toBe("nothing_to_redo");
  });
});

test("[R5] numbers of requests and turns only grow, whatever was undone", async () => {
  const bench = await makeSessionBench();
  const sessionId = await bench.newSession();
  const one = await answered(bench, sessionId, "one");
  await bench.send("session.undo", { sessionId });
  const two = await answered(bench, sessionId, "two");
  const seqOf = async (id: string) => (await bench.request(sessionId, id)).seq;
  expect([await seqOf(one), await seqOf(two)]).toEqual([1, 2]);
  const turns = await bench.store.rows("turn", sessionId);
  expect(turns.map(({ id, row }) => [id, row.requestId])).toEqual([
    ["1", one],
    ["2", two],
  ]);
});

describe("deleting", () => {
  test("a session in mid-stream ends its run, and the straggler cannot bring it back", async () => {
    const { tool, started } = makeHangingTool();
    const bench = await makeSessionBench({ tools: [tool] });
    const sessionId = await bench.newSession();
    await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    turn.answer("text");
    turn.call("hang", {});
    turn.done();
    const context = await started;
    await bench.send("session.delete", { sessionId });
    expect(context.signal.aborted).toBe(true);
    await bench.clock.advance(60_000);
    expect(await bench.store.rows("session")).toEqual([]);
    expect(await bench.store.rows("turn", sessionId)).toEqual([]);
    expect(bench.live.streams.every((stream) => stream.isEnded)).toBe(true);
    expect(await bench.store.savedStreams()).toEqual([]);
  });
});

describe("a full disk", () => {
  async function makeBenchOnDisk() {
    const { store, clock, path } = await openTemporaryStore();
    const disk = makeFullDisk(store);
    const bench = await makeSessionBench({ on: { store: disk.store, clock, path } });
    return { bench, disk, sessionId: await bench.newSession() };
  }

  test("refuses a command as one that may succeed later, and then it does", async () => {
    const { bench, disk, sessionId } = await makeBenchOnDisk();
    const prompt = () => bench.send("session.prompt", { sessionId, text: "Go" });
    disk.isFull = true;
    const failure = await prompt().catch((error: unknown) => error);
    expect(failure instanceof Failure && failure.wire).toMatchObject({
      code: "disk_failed",
      retryable: true,
    });
    disk.isFull = false;
    expect(await prompt()).toMatchObject({ queued: false });
  });

  test("ends the request that runs, which is recorded with its text once there is room", async () => {
    const { bench, disk, sessionId } = await makeBenchOnDisk();
    const { requestId } = await bench.send("session.prompt", { sessionId, text: "Go" });
    const next = await bench.send("session.prompt", { sessionId, text: "Next" });
    const turn = await bench.provider.turn();
    turn.answer("So far");
    disk.isFull = true;
    turn.call("quick", {});
    turn.done("calls");
    await bench.clock.advance(20_000);
    expect(await statesOf(bench, sessionId)).toEqual(["running", "queued"]);
    disk.isFull = false;
    await bench.clock.advance(5_000);
    await until(bench.store, async () => {
      return (await bench.request(sessionId, requestId)).state !== "running";
    });
    expect(await bench.request(sessionId, requestId)).toMatchObject({
      state: "failed",
      error: { code: "disk_failed" },
    });
    expect((await bench.turn(sessionId, 1)).answer.head).toBe("So far");
    expect((await bench.request(sessionId, next.requestId)).state).toBe("running");
  });
});

describe("a daemon that stops", () => {
  test("in order: what runs is interrupted with its text, what waits stays and runs at the next start", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const first = await bench.send("session.prompt", { sessionId, text: "one" });
    const second = await bench.send("session.prompt", { sessionId, text: "two" });
    const turn = await bench.provider.turn();
    const heard = new Promise<void>((resolve) => {
      bench.live.onAppend = () => resolve();
    });
    turn.answer("Half");
    await heard;
    await bench.sessions.close();
    expect(await codeOf(bench.send("session.prompt", { sessionId, text: "x" }))).toBe(
      "shutting_down",
    );
    expect(await bench.request(sessionId, first.requestId)).toMatchObject({
      state: "interrupted",
      error: { code: "interrupted" },
    });
    expect(await bench.turn(sessionId, 1)).toMatchObject({
      state: "interrupted",
      answer: { head: "Half" },
    });
    const { store, clock, storePath: path } = bench;
    const after = await makeSessionBench({ on: { store, clock, path } });
    await after.sessions.start();
    const next = await after.provider.turn();
    expect(next.request.messages.at(-1)).toEqual({ role: "user", text: "two" });
    next.done();
    await after.idle(sessionId);
    expect((await after.request(sessionId, second.requestId)).state).toBe("done");
  });

  test("[F8] by a crash in mid-stream: the turn shows what was saved, marked interrupted and continuable", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const { requestId } = await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    const heard = new Promise<void>((resolve) => {
      bench.live.onAppend = () => resolve();
    });
    turn.answer("Saved text");
    await heard;
    await bench.clock.advance(STREAM_SAVE_MS);
    while ((await bench.store.savedStreams()).length === 0) await bench.clock.advance(1);
    await bench.store.close();

    const store = await openStoreAt(bench.storePath, bench.clock);
    const after = await makeSessionBench({
      on: { store, clock: bench.clock, path: bench.storePath },
    });
    await after.sessions.start();
    expect(await after.request(sessionId, requestId)).toMatchObject({ state: "interrupted" });
    expect(await after.turn(sessionId, 1)).toMatchObject({
      state: "interrupted",
      answer: { head: "Saved text" },
    });
    expect(await sessionRow(after, sessionId)).toMatchObject({
      state: "interrupted",
      turnCount: 1,
    });
    expect(await store.savedStreams()).toEqual([]);
    await after.send("session.continue", { sessionId });
    const next = await after.provider.turn();
    expect(next.request.messages).toHaveLength(3);
    next.done();
    await after.idle(sessionId);
    expect(await after.turn(sessionId, 2)).toMatchObject({ state: "done" });
  });

  test("[F8] by a crash in mid-tool: finished results are there, the others say what happened", async () => {
    const { tool, started } = makeHangingTool();
    const bench = await makeSessionBench({ tools: [tool, quick] });
    const sessionId = await bench.newSession();
    await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    turn.call("quick", {});
    turn.call("hang", {});
    turn.done();
    await started;
    await until(
      bench.store,
      async () => (await bench.store.rows("toolResult", sessionId)).length === 1,
    );
    await bench.store.close();

    const store = await openStoreAt(bench.storePath, bench.clock);
    const after = await makeSessionBench({
      on: { store, clock: bench.clock, path: bench.storePath },
    });
    await after.sessions.start();
    const results = (await store.rows("toolResult", sessionId)).map((each) => each.row);
    expect(results).toMatchObject([
      { output: { head: "finished" }, isError: false },
      { output: { head: "interrupted: the daemon stopped before this finished." }, isError: true },
    ]);
    expect((await after.turn(sessionId, 1)).calls.map((call) => call.state)).toEqual([
      "done",
      "interrupted",
    ]);
  });
});
