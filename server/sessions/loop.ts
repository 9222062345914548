// The agent loop: ask the model, run the tools it calls, ask again, until it answers without calls,
// fails, or is stopped. Runs beside its session and changes it only through the RunPort.

import { assertNever } from "../../shared/assert-never.ts";
import { TOOL_CALLS_PER_TURN_MAX, TURNS_PER_REQUEST_MAX } from "../../shared/limits.ts";
import { countedUsage } from "../../shared/model/usage.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import { wellFormed } from "../../shared/sanitize/clean-text.ts";
import { systemPrompt } from "../context/system-prompt.ts";
import { traceOf } from "../log.ts";
import { type FoundModel, findModel } from "../providers/find-model.ts";
import type { ModelCall, ModelEvent, ModelMessage, ModelRequest } from "../providers/provider.ts";
import { StoreError } from "../store/store.ts";
import { toolSchemas } from "../tools/arguments.ts";
import { planCalls, runCalls } from "./calls.ts";
import type { SessionDeps } from "./deps.ts";
import { DISK_FAILED } from "./ending.ts";
import type { LoopContext } from "./loop-context.ts";
import { assistantMessage } from "./messages.ts";
import { RunClosed, type RunPort } from "./run.ts";
import { makeStreamSaver } from "./stream-saver.ts";

/** Never rejects: whatever happens ends the request, unless it has ended already. */
export async function runRequest(
  deps: SessionDeps,
  port: RunPort,
  loadMessages: () => Promise<ModelMessage[]>,
): Promise<void> {
  const { run } = port;
  const saver = makeStreamSaver(deps, () => port.saveStream());
  const tools = deps.tools.filter((tool) => run.session.toolGroups.includes(tool.group));
  try {
    const found = await findModel(deps.providers, run.session.model);
    if (found === null) {
      const message = `No provider serves the model ${run.session.model}. Choose another for this session.`;
      await port.finish({ state: "failed", error: wireError("model_unknown", message) });
      return;
    }
    const messages = await loadMessages();
    const error = await takeTurns({ deps, port, saver, tools }, found, messages);
    await port.finish(error === null ? { state: "done" } : { state: "failed", error });
  } catch (error) {
    if (isQuietEnd(error)) return;
    deps.log.error(
      { trace: traceOf(error), requestId: run.requestId },
      "a request failed by a fault",
    );
    await port
      .finish({
        state: "failed",
        error: faultOf(error),
      })
      .catch((again: unknown) => {
        if (!isQuietEnd(again))
          deps.log.error({ trace: traceOf(again) }, "its end was not recorded");
      });
  } finally {
    saver.stop();
  }
}

const faultOf = (error: unknown): WireError =>
  error instanceof StoreError && error.code === "not_writable"
    ? DISK_FAILED
    : wireError("internal", "The daemon failed at this request; its log says how.");

const isQuietEnd = (error: unknown): boolean =>
  error instanceof RunClosed || (error instanceof StoreError && error.code === "session_deleted");

/** Null: the model gave its final answer. */
async function takeTurns(
  context: LoopContext,
  found: FoundModel,
  messages: ModelMessage[],
): Promise<WireError | null> {
  const { port } = context;
  const { run } = port;
  const request: ModelRequest = {
    model: found.model,
    system: systemPrompt({
      workingDir: run.session.workingDir,
      branch: run.session.branch,
      toolNames: context.tools.map((tool) => tool.name),
    }),
    messages,
    tools: toolSchemas(context.tools),
  };
  for (;;) {
    const said = await streamTurn(context, found.provider.stream(request, run.signal));
    if (said.error !== null) return said.error;
    if (said.calls.length === 0) return null;
    const planned = planCalls(context.tools, said.calls);
    const rev = await port.changeTurn(async (tx, turn) => ({
      ...turn,
      state: "calling",
      answer: await tx.text(run.stream.text("answer")),
      reasoning: await tx.text(run.stream.text("reasoning")),
      reasoningMs: run.reasoningMs,
      usage: run.turnUsage,
      calls: planned.map(({ call }) => call),
    }));
    messages.push(assistantMessage(run.stream.text("answer"), said.calls));
    messages.push(...(await runCalls(context, planned, rev)));
    if (run.turns >= TURNS_PER_REQUEST_MAX) return turnLimit();
    await port.nextTurn();
  }
}

interface Said {
  readonly calls: ModelCall[];
  readonly error: WireError | null;
}

async function streamTurn(context: LoopContext, events: AsyncIterable<ModelEvent>): Promise<Said> {
  const { clock } = context.deps;
  const { run } = context.port;
  const calls: ModelCall[] = [];
  let reasoningSince: number | null = null;
  try {
    for await (const event of events) {
      run.throwIfClosed();
      if (event.type !== "reasoning" && event.type !== "usage" && reasoningSince !== null) {
        run.reasoningMs = (run.reasoningMs ?? 0) + Math.max(0, clock.now() - reasoningSince);
        reasoningSince = null;
      }
      switch (event.type) {
        case "answer":
        case "reasoning":
          if (event.type === "reasoning") reasoningSince ??= clock.now();
          run.stream.append(event.type, wellFormed(event.text));
          context.saver.changed();
          break;
        case "call":
          calls.push(uniqueCall(calls, event.call));
          break;
        case "usage":
          run.turnUsage = countedUsage(event.usage);
          break;
        case "done":
          return { calls, error: endProblem(event.reason, calls.length) };
        case "error":
          return { calls, error: event.error };
        default:
          assertNever(event);
      }
    }
  } catch (error) {
    if (error instanceof RunClosed) throw error;
    // An adapter must not throw; one that does is a fault of ours, shown as the provider's.
    context.deps.log.error({ trace: traceOf(error) }, "a provider adapter threw");
    return { calls, error: wireError("provider_failed", "The provider's adapter failed.", true) };
  }
  run.throwIfClosed();
  return {
    calls,
    error: wireError("provider_failed", "The model's answer ended without saying so.", true),
  };
}

function endProblem(
  reason: Extract<ModelEvent, { type: "done" }>["reason"],
  calls: number,
): WireError | null {
  if (calls > TOOL_CALLS_PER_TURN_MAX) {
    const message = `The model asked for ${calls} tools at once; at most ${TOOL_CALLS_PER_TURN_MAX} are run.`;
    return wireError("provider_failed", message, true);
  }
  switch (reason) {
    case "stop":
    case "calls":
      return null;
    case "length":
      return wireError(
        "provider_failed",
        "The answer was cut at the model's output limit. Continue to get the rest.",
        true,
      );
    case "filtered":
      return wireError("provider_failed", "The provider withheld the rest of the answer.");
    default:
      return assertNever(reason);
  }
}

/** Call ids are the provider's; within a turn they must differ. */
function uniqueCall(earlier: readonly ModelCall[], call: ModelCall): ModelCall {
  const taken = new Set<string>(earlier.map((each) => each.callId));
  if (!taken.has(call.callId)) return call;
  let n = 2;
  while (taken.has(`${call.callId.slice(0, 120)}-${n}`)) n += 1;
  return { ...call, callId: `${call.callId.slice(0, 120)}-${n}` as ModelCall["callId"] };
}

const turnLimit = (): WireError =>
  wireError(
    "turn_limit",
    `The request took ${TURNS_PER_REQUEST_MAX} turns without coming to an end. Continue to let it go on.`,
  );

const wireError = (code: WireError["code"], message: string, retryable = false): WireError => ({
  code,
  message,
  retryable,
});
