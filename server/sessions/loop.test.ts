import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import type { SessionId } from "../../shared/ids.ts";
import { TOOL_OUTPUT_MAX_BYTES, TURNS_PER_REQUEST_MAX } from "../../shared/limits.ts";
import { makeSessionBench, type SessionBench, until } from "../testing/session-bench.ts";
import type { Tool, ToolContext, ToolOutput } from "../tools/tool.ts";

interface HeldTool {
  readonly tool: Tool;
  /** The next call that was not handed out yet. */
  call(): Promise<{ args: unknown; context: ToolContext; end(output: ToolOutput): void }>;
}

function makeHeldTool(name = "held", timeoutMs = 60_000): HeldTool {
  const calls: Awaited<ReturnType<HeldTool["call"]>>[] = [];
  const waiting: ((call: Awaited<ReturnType<HeldTool["call"]>>) => void)[] = [];
  const parameters = z.object({ what: z._default(z.string(), "it") });
  const tool: Tool<typeof parameters> = {
    name,
    group: "core",
    description: "Held by the test.",
    parameters,
    timeoutMs,
    describe: ({ what }) => `Held \`${what}\``,
    run: (args, context) =>
      new Promise((end) => {
        const call = { args, context, end };
        const taker = waiting.shift();
        if (taker) taker(call);
        else calls.push(call);
      }),
  };
  return {
    tool,
    call() {
      const call = calls.shift();
      return call ? Promise.resolve(call) : new Promise((resolve) => waiting.push(resolve));
    },
  };
}

const throwing: Tool = {
  name: "broken",
  group: "core",
  description: "Throws.",
  parameters: z.object({}),
  timeoutMs: 1_000,
  describe: () => "Broke",
  run: () => Promise.reject(new Error("a fault")),
};

const resultsOf = async (bench: SessionBench, sessionId: SessionId) =>
  (await bench.store.rows("toolResult", sessionId)).map(({ row }) => row);

describe("a request", () => {
  test("answers in one turn: text streams, then the row holds it and the session is idle", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const { requestId, queued } = await bench.send("session.prompt", {
      sessionId,
      text: "Hello there",
    });
    expect(queued).toBe(false);
    expect((await bench.request(sessionId, requestId)).state).toBe("running");
    const turn = await bench.provider.turn();
    expect(turn.request.messages).toEqual([{ role: "user", text: "Hello there" }]);
    turn.reasoning("hm");
    turn.answer("Good ");
    turn.answer("day");
    turn.say({ type: "usage", usage: { inputTokens: 3, outputTokens: 2, cachedTokens: 1 } });
    turn.done();
    await bench.idle(sessionId);
    const row = await bench.turn(sessionId, 1);
    expect(row).toMatchObject({
      state: "done",
      answer: { head: "Good day" },
      reasoning: { head: "hm" },
    });
    expect(await bench.request(sessionId, requestId)).toMatchObject({ state: "done", error: null });
    const session = (await bench.store.row("session", sessionId, sessionId))?.row;
    expect(session).toMatchObject({
      state: "idle",
      title: "Hello there",
      titled: false,
      turnCount: 1,
      usage: { inputTokens: 3, outputTokens: 2, cachedTokens: 1 },
    });
    expect(bench.live.streams.map((stream) => stream.isEnded)).toEqual([true]);
    expect(bench.live.doing()).toEqual(["Thinking", null]);
  });

  test("[F1] a stream ends only after the row that holds its text is committed", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    await bench.send("session.prompt", { sessionId, text: "Hello" });
    const turn = await bench.provider.turn();
    turn.answer("text");
    const endedAtCommit: boolean[] = [];
    bench.store.onCommit(() => endedAtCommit.push(bench.live.streams[0]?.isEnded ?? true));
    turn.done();
    await bench.idle(sessionId);
    expect(endedAtCommit[0]).toBe(false);
    expect(bench.live.streams[0]?.isEnded).toBe(true);
  });

  test("runs tools side by side, records each result as it comes, and goes on with all of them", async () => {
    const held = makeHeldTool();
    const bench = await makeSessionBench({ tools: [held.tool] });
    const sessionId = await bench.newSession();
    await bench.send("session.prompt", { sessionId, text: "Do two things" });
    const first = await bench.provider.turn();
    first.answer("Both.");
    first.call("held", { what: "a" });
    first.call("held", { what: "b" });
    first.done();
    const [a, b] = [await held.call(), await held.call()];
    b.end({ text: "second", isError: false, description: "Held `b` well", note: "2" });
    await until(bench.store, async () => (await resultsOf(bench, sessionId)).length === 1);
    expect(await bench.turn(sessionId, 1)).toMatchObject({
      state: "calling",
      calls: [
        { state: "pending", description: "Held `a`" },
        { state: "done", description: "Held `b`" },
      ],
    });
    a.end({ text: "first", isError: false });
    const second = await bench.provider.turn();
    expect(second.request.messages).toEqual([
      { role: "user", text: "Do two things" },
      {
        role: "assistant",
        text: "Both.",
        calls: [
          { callId: "call-1", name: "held", arguments: '{"what":"a"}' },
          { callId: "call-2", name: "held", arguments: '{"what":"b"}' },
        ],
      },
      { role: "tool", callId: "call-1", name: "held", text: "first", isError: false },
      { role: "tool", callId: "call-2", name: "held", text: "second", isError: false },
    ]);
    expect(await bench.turn(sessionId, 1)).toMatchObject({ state: "done" });
    second.answer("Done.");
    second.done();
    await bench.idle(sessionId);
    expect(await bench.turn(sessionId, 2)).toMatchObject({
      state: "done",
      answer: { head: "Done." },
    });
    expect(await resultsOf(bench, sessionId)).toMatchObject([
      { callId: "call-1", output: { head: "first" }, note: null },
      { callId: "call-2", output: { head: "second" }, note: "2", description: "Held `b` well" },
    ]);
    const started = bench.live.events.filter(({ event }) => event.type === "tool.started");
    expect(started).toHaveLength(2);
    expect(bench.live.doing()).toEqual(["Thinking", "Held `a`", "Held `a`", "Thinking", null]);
  });

  test("[F6] what is said of a turn never refers to a row that comes later", async () => {
    const held = makeHeldTool();
    const bench = await makeSessionBench({ tools: [held.tool] });
    const sessionId = await bench.newSession();
    await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    turn.call("held", {});
    turn.done();
    await held.call();
    const stored = await bench.store.row("turn", sessionId, "1");
    const started = bench.live.events.find(({ event }) => event.type === "tool.started");
    expect(started?.afterRev).toBe(stored?.rev);
    expect(stored?.row.state).toBe("calling");
  });

  test("a tool that throws, one that does not exist and bad arguments are results the model reads", async () => {
    const held = makeHeldTool();
    const bench = await makeSessionBench({ tools: [throwing, held.tool] });
    const sessionId = await bench.newSession();
    const { requestId } = await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    turn.call("broken", {});
    turn.call("nonsense", {});
    turn.call("held", { what: 7 });
    turn.call("held", "{not json");
    turn.done();
    const next = await bench.provider.turn();
    const texts = next.request.messages.flatMap((each) => (each.role === "tool" ? [each] : []));
    expect(texts.every((each) => each.isError)).toBe(true);
    expect(texts.map((each) => each.text)).toEqual([
      "The tool broken failed by a fault of its own.",
      "There is no tool `nonsense`. The tools there are: broken, held.",
      "The arguments of held are not as its schema says. what: expected string",
      "The arguments of held are not valid JSON.",
    ]);
    next.answer("Sorry.");
    next.done();
    await bench.idle(sessionId);
    expect((await bench.request(sessionId, requestId)).state).toBe("done");
    expect((await bench.turn(sessionId, 1)).calls.map((call) => call.state)).toEqual(
      Array(4).fill("failed"),
    );
  });

  test("a tool past its time is stopped and its output so far kept", async () => {
    const held = makeHeldTool("held", 5_000);
    const bench = await makeSessionBench({ tools: [held.tool] });
    const sessionId = await bench.newSession();
    await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    turn.call("held", {});
    turn.done();
    const call = await held.call();
    call.context.emit("half of it");
    expect(bench.live.streams[0]?.text("output:call-1")).toBe("half of it");
    await bench.clock.advance(5_000);
    expect(call.context.signal.aborted).toBe(true);
    const next = await bench.provider.turn();
    expect(next.request.messages.at(-1)).toMatchObject({
      text: "half of it\ntimed out: stopped after 5 s.",
      isError: true,
    });
  });

  test("tool output is bounded and cleaned before anyone reads it", async () => {
    const held = makeHeldTool();
    const bench = await makeSessionBench({ tools: [held.tool] });
    const sessionId = await bench.newSession();
    await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    turn.call("held", {});
    turn.done();
    (await held.call()).end({ text: `\u001b[31mred\u202e${"x".repeat(200_000)}`, isError: false });
    const next = await bench.provider.turn();
    const message = next.request.messages.at(-1);
    const text = message?.role === "tool" ? message.text : "";
    expect(text.startsWith("red\\u{202e}x")).toBe(true);
    expect(text).toMatch(/\n\[truncated: 200011 bytes in all\]$/);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(TOOL_OUTPUT_MAX_BYTES);
  });

  test("call ids that a model repeats within a turn are told apart", async () => {
    const held = makeHeldTool();
    const bench = await makeSessionBench({ tools: [held.tool] });
    const sessionId = await bench.newSession();
    await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    turn.call("held", { what: "a" }, "same");
    turn.call("held", { what: "b" }, "same");
    turn.done();
    (await held.call()).end({ text: "1", isError: false });
    (await held.call()).end({ text: "2", isError: false });
    const next = await bench.provider.turn();
    const ids = next.request.messages.flatMap((each) =>
      each.role === "tool" ? [each.callId] : [],
    );
    expect(ids).toEqual(["same", "same-2"]);
  });

  test("a provider's error, silence and fault each fail the request, text kept", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const endings = [
      (turn: Awaited<ReturnType<typeof bench.provider.turn>>) =>
        turn.say({
          type: "error",
          error: { code: "provider_failed", message: "Overloaded.", retryable: true },
        }),
      (turn: Awaited<ReturnType<typeof bench.provider.turn>>) => turn.silence(),
      (turn: Awaited<ReturnType<typeof bench.provider.turn>>) => turn.throw(new Error("no")),
      (turn: Awaited<ReturnType<typeof bench.provider.turn>>) => turn.done("length"),
    ];
    for (const [index, end] of endings.entries()) {
      const { requestId } = await bench.send("session.prompt", { sessionId, text: `Try ${index}` });
      const turn = await bench.provider.turn();
      turn.answer("Some");
      end(turn);
      await bench.idle(sessionId);
      const request = await bench.request(sessionId, requestId);
      expect(request).toMatchObject({ state: "failed", error: { code: "provider_failed" } });
      expect(await bench.turn(sessionId, index + 1)).toMatchObject({
        state: "failed",
        answer: { head: "Some" },
        error: { code: "provider_failed" },
      });
      expect((await bench.store.row("session", sessionId, sessionId))?.row.state).toBe("failed");
    }
  });

  test("a request without end is stopped at the turn limit", async () => {
    const quick: Tool = {
      ...throwing,
      name: "quick",
      run: async () => ({ text: "ok", isError: false }),
    };
    const bench = await makeSessionBench({ tools: [quick] });
    const sessionId = await bench.newSession();
    const { requestId } = await bench.send("session.prompt", { sessionId, text: "Go" });
    for (let n = 0; n < TURNS_PER_REQUEST_MAX; n++) {
      const turn = await bench.provider.turn();
      turn.call("quick", {});
      turn.done();
    }
    await bench.idle(sessionId);
    expect(await bench.request(sessionId, requestId)).toMatchObject({
      state: "failed",
      error: { code: "turn_limit" },
    });
    expect(bench.provider.begun).toBe(TURNS_PER_REQUEST_MAX);
  });

  test("a long answer is stored as a blob and read whole by the next request", async () => {
    const bench = await makeSessionBench();
    const sessionId = await bench.newSession();
    const long = "word ".repeat(20_000);
    await bench.send("session.prompt", { sessionId, text: "Go" });
    const turn = await bench.provider.turn();
    turn.answer(long);
    turn.done();
    await bench.idle(sessionId);
    expect((await bench.turn(sessionId, 1)).answer.blob).not.toBeNull();
    await bench.send("session.prompt", { sessionId, text: "Again" });
    const next = await bench.provider.turn();
    expect(next.request.messages[1]).toEqual({ role: "assistant", text: long, calls: [] });
  });
});
