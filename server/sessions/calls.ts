// Runs the tool calls of one turn side by side and records each result as it comes.

import { TOOL_OUTPUT_MAX_BYTES } from "../../shared/limits.ts";
import { type ToolCall, toolResultRowId } from "../../shared/protocol/rows.ts";
import { capText, utf8Length } from "../../shared/sanitize/cap-text.ts";
import { cleanText, codeSpan } from "../../shared/sanitize/clean-text.ts";
import { traceOf } from "../log.ts";
import type { ModelCall, ModelMessage } from "../providers/provider.ts";
import { checkArguments } from "../tools/arguments.ts";
import type { Tool, ToolOutput } from "../tools/tool.ts";
import type { LoopContext } from "./loop-context.ts";
import { boundOutput } from "./tool-output.ts";

const DESCRIPTION_MAX_CHARS = 400;
const NOTE_MAX_CHARS = 80;

/** A call as its row begins, and what will become of it. */
export type PlannedCall =
  | { readonly call: ToolCall; readonly tool: Tool; readonly args: unknown }
  | { readonly call: ToolCall; readonly problem: string };

export function planCalls(tools: readonly Tool[], calls: readonly ModelCall[]): PlannedCall[] {
  return calls.map((call) => {
    const row = (description: string): ToolCall => ({
      callId: call.callId,
      name: call.name,
      arguments: call.arguments,
      description: oneLine(description, DESCRIPTION_MAX_CHARS),
      state: "pending",
    });
    const tool = tools.find((each) => each.name === call.name);
    const span = codeSpan(call.name);
    if (!tool) {
      const known = tools.map((each) => each.name).join(", ") || "none";
      const problem = `There is no tool ${span}. The tools there are: ${known}.`;
      return { call: row(`Called ${span}, which does not exist`), problem };
    }
    const checked = checkArguments(tool, call.arguments);
    if (!checked.ok) {
      return { call: row(`Called ${span} with wrong arguments`), problem: checked.message };
    }
    return { call: row(sentenceOf(tool, checked.args)), tool, args: checked.args };
  });
}

function sentenceOf(tool: Tool, args: unknown): string {
  try {
    return tool.describe(args);
  } catch {
    // A tool that cannot put this call into words can still run it.
    return `Called ${codeSpan(tool.name)}`;
  }
}

const oneLine = (text: string, maxChars: number): string => {
  const characters = [...cleanText(text).replace(/\s+/g, " ").trim()];
  return characters.length <= maxChars
    ? characters.join("")
    : `${characters.slice(0, maxChars - 1).join("")}…`;
};

/** `turnRev`: the rev of the turn's row that lists the calls. Resolves with the results in the order of the calls. */
export function runCalls(
  context: LoopContext,
  planned: readonly PlannedCall[],
  turnRev: number,
): Promise<ModelMessage[]> {
  const running = new Set<ToolCall>();
  const { live } = context.deps;
  const { run } = context.port;
  const sayDoing = () => {
    const [first] = running;
    if (first && run.end === null) {
      const event = { type: "session.doing", doing: first.description } as const;
      live.publish(context.port.sessionId, event, turnRev);
    }
  };
  return Promise.all(
    planned.map(async (plan): Promise<ModelMessage> => {
      const startedAt = context.deps.clock.now();
      let output: ToolOutput;
      if ("problem" in plan) {
        output = { text: plan.problem, isError: true, note: "refused" };
      } else {
        const { callId } = plan.call;
        live.publish(
          context.port.sessionId,
          { type: "tool.started", turnId: run.turnId, callId },
          turnRev,
        );
        running.add(plan.call);
        if (running.size === 1) sayDoing();
        output = await runTool(context, plan);
        running.delete(plan.call);
        sayDoing();
      }
      return recordResult(context, plan.call, output, startedAt);
    }),
  );
}

async function recordResult(
  context: LoopContext,
  call: ToolCall,
  output: ToolOutput,
  startedAt: number,
): Promise<ModelMessage> {
  const { clock } = context.deps;
  const { port } = context;
  const { run } = port;
  const text = boundOutput(output.text);
  const now = clock.now();
  await port.changeTurn(async (tx, turn) => {
    await tx.put("toolResult", port.sessionId, toolResultRowId(run.turnId, call.callId), {
      turnId: run.turnId,
      callId: call.callId,
      name: call.name,
      description: oneLine(output.description ?? call.description, DESCRIPTION_MAX_CHARS),
      note: output.note === undefined ? null : oneLine(output.note, NOTE_MAX_CHARS),
      output: await tx.text(text),
      isError: output.isError,
      durationMs: Math.max(0, Math.round(now - startedAt)),
    });
    const state = output.isError ? "failed" : "done";
    const calls = turn.calls.map((each) =>
      each.callId === call.callId ? ({ ...each, state } satisfies ToolCall) : each,
    );
    if (calls.some((each) => each.state === "pending")) return { ...turn, calls };
    await tx.dropStream(port.sessionId, run.turnId);
    return { ...turn, calls, state: "done", endedAt: now };
  });
  return { role: "tool", callId: call.callId, name: call.name, text, isError: output.isError };
}

/** Never rejects. Ends when the tool does, when its time is up, or when the request ends. */
async function runTool(
  context: LoopContext,
  { call, tool, args }: Extract<PlannedCall, { tool: Tool }>,
): Promise<ToolOutput> {
  const { clock, log } = context.deps;
  const { run } = context.port;
  const timeout = new AbortController();
  const callOff = clock.after(tool.timeoutMs, () => timeout.abort());
  const signal = AbortSignal.any([run.signal, timeout.signal]);
  const partial = makePartialOutput(context, call);
  const stopped = new Promise<ToolOutput>((resolve) => {
    const stop = () => resolve(stoppedOutput(partial.text(), tool.timeoutMs));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  try {
    const context = { workingDir: run.session.workingDir, signal, emit: partial.emit };
    return await Promise.race([tool.run(args, context), stopped]);
  } catch (error) {
    log.error({ tool: tool.name, trace: traceOf(error) }, "a tool threw");
    return {
      text: `The tool ${tool.name} failed by a fault of its own.`,
      isError: true,
      note: "failed",
    };
  } finally {
    callOff();
  }
}

function stoppedOutput(partial: string, timeoutMs: number): ToolOutput {
  const why = `timed out: stopped after ${Math.round(timeoutMs / 1000)} s.`;
  return {
    text: partial === "" ? why : `${partial}\n${why}`,
    isError: true,
    note: "timed out",
  };
}

/** Shown while the tool runs, within the same limit as its result. */
function makePartialOutput(context: LoopContext, call: ToolCall) {
  const { run } = context.port;
  const { stream } = run;
  const part = `output:${call.callId}` as const;
  let left = TOOL_OUTPUT_MAX_BYTES;
  return {
    text: () => stream.text(part),
    emit(text: string) {
      if (run.end !== null || left <= 0 || run.stream !== stream) return;
      const piece = capText(cleanText(text), left).text;
      left -= utf8Length(piece);
      stream.append(part, piece);
      context.saver.changed();
    },
  };
}
