// The models and the tool of one daemon: what they say and when is the simulation's choice.

import * as z from "zod/mini";
import { CONTINUE_TEXT } from "../../server/sessions/messages.ts";
import { makeScriptedProvider, type ScriptedTurn } from "../../server/testing/scripted-provider.ts";
import type { Tool, ToolOutput } from "../../server/tools/tool.ts";
import type { History } from "./history.ts";
import type { Accuse } from "./witness.ts";

export interface RunningTool {
  readonly signal: AbortSignal;
  emit(text: string): void;
  finish(output: ToolOutput): void;
}

export const PROBE = "probe";

export class SimulatedModel {
  readonly provider = makeScriptedProvider();
  readonly probe: Tool;
  readonly #history: History;
  readonly #accuse: Accuse;
  readonly #runs = new Set<AbortSignal>();
  #turns: ScriptedTurn[] = [];
  #tools: RunningTool[] = [];
  #taken = 0;

  constructor(history: History, accuse: Accuse) {
    this.#history = history;
    this.#accuse = accuse;
    this.probe = this.#makeProbe();
  }

  /** Model calls that go on. */
  get turns(): readonly ScriptedTurn[] {
    this.#turns = this.#turns.filter(({ signal }) => !signal.aborted);
    return this.#turns;
  }

  get tools(): readonly RunningTool[] {
    this.#tools = this.#tools.filter(({ signal }) => !signal.aborted);
    return this.#tools;
  }

  /** Takes up the model calls that have begun. To be called whenever all is quiet. */
  async notice(): Promise<void> {
    while (this.#taken < this.provider.begun) {
      this.#taken += 1;
      const turn = await this.provider.turn();
      this.#turns.push(turn);
      if (this.#runs.has(turn.signal)) continue;
      this.#runs.add(turn.signal);
      this.#began(turn);
    }
  }

  ended(turn: ScriptedTurn): void {
    this.#turns = this.#turns.filter((other) => other !== turn);
  }

  #began({ request }: ScriptedTurn): void {
    this.#checkCalls(request.messages);
    const prompt = request.messages.findLast(({ role }) => role === "user")?.text ?? "";
    if (prompt === CONTINUE_TEXT) return;
    const times = (this.#history.begun.get(prompt) ?? 0) + 1;
    this.#history.begun.set(prompt, times);
    if (times > 1) this.#accuse(`[F5] "${prompt.slice(0, 20)}" was begun ${times} times`);
  }

  /** A model is never shown a call without its result, whatever was interrupted. */
  #checkCalls(messages: ScriptedTurn["request"]["messages"]): void {
    const open = new Set<string>();
    for (const message of messages) {
      if (message.role === "tool") open.delete(message.callId);
      else if (open.size > 0) this.#accuse("[F8] a call without a result was shown to the model");
      if (message.role === "assistant") for (const { callId } of message.calls) open.add(callId);
    }
    if (open.size > 0) this.#accuse("[F8] a call without a result was shown to the model");
  }

  #makeProbe(): Tool {
    return {
      name: PROBE,
      group: "core",
      description: "Looks at something, for as long as it takes.",
      parameters: z.object({}),
      timeoutMs: 60_000,
      describe: () => "Looked at something",
      run: (_args, { signal, emit }) =>
        new Promise<ToolOutput>((resolve) => {
          const tool: RunningTool = {
            signal,
            emit,
            finish: (output) => {
              this.#tools = this.#tools.filter((other) => other !== tool);
              resolve(output);
            },
          };
          this.#tools.push(tool);
        }),
    };
  }
}
