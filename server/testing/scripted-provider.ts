// A provider for tests: what each turn says is scripted, and it is said when the test says so.

import type { CallId } from "../../shared/ids.ts";
import type { ModelEvent, ModelRequest, Provider } from "../providers/provider.ts";

/** One model call under way. */
export interface ScriptedTurn {
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  answer(text: string): void;
  reasoning(text: string): void;
  call(name: string, args: unknown, callId?: string): void;
  say(event: ModelEvent): void;
  /** Ends the stream: with `done`, or silently, as no adapter may. */
  done(reason?: "stop" | "calls" | "length" | "filtered"): void;
  silence(): void;
  /** The adapter breaks its contract. */
  throw(error: Error): void;
}

export interface ScriptedProvider extends Provider {
  /** The next model call that was not handed out yet. */
  turn(): Promise<ScriptedTurn>;
  /** Model calls begun so far. */
  readonly begun: number;
}

export function makeScriptedProvider(slug = "scripted"): ScriptedProvider {
  const waiting: ((turn: ScriptedTurn) => void)[] = [];
  const ready: ScriptedTurn[] = [];
  let begun = 0;
  return {
    slug,
    models: async () => [{ id: `${slug}/model`, name: "Scripted", description: "For tests." }],
    stream(request, signal) {
      begun += 1;
      const queue = makeQueue(signal);
      const turn = makeTurn(request, signal, queue);
      const taker = waiting.shift();
      if (taker) taker(turn);
      else ready.push(turn);
      return queue.events;
    },
    turn() {
      const turn = ready.shift();
      if (turn) return Promise.resolve(turn);
      return new Promise((resolve) => waiting.push(resolve));
    },
    get begun() {
      return begun;
    },
  };
}

interface Queue {
  push(event: ModelEvent): void;
  end(error?: Error): void;
  readonly events: AsyncIterable<ModelEvent>;
}

function makeTurn(request: ModelRequest, signal: AbortSignal, queue: Queue): ScriptedTurn {
  let calls = 0;
  return {
    request: structuredClone(request),
    signal,
    answer: (text) => queue.push({ type: "answer", text }),
    reasoning: (text) => queue.push({ type: "reasoning", text }),
    call(name, args, callId) {
      calls += 1;
      const id = (callId ?? `call-${calls}`) as CallId;
      const json = typeof args === "string" ? args : JSON.stringify(args);
      queue.push({ type: "call", call: { callId: id, name, arguments: json } });
    },
    say: (event) => queue.push(event),
    done(reason) {
      queue.push({ type: "done", reason: reason ?? (calls > 0 ? "calls" : "stop") });
      queue.end();
    },
    silence: () => queue.end(),
    throw: (error) => queue.end(error),
  };
}

function makeQueue(signal: AbortSignal): Queue {
  const events: ModelEvent[] = [];
  let isEnded = false;
  let failure: Error | null = null;
  let wake = () => {};
  const wakeUp = () => wake();
  signal.addEventListener("abort", wakeUp);
  async function* drain(): AsyncGenerator<ModelEvent> {
    try {
      for (;;) {
        if (signal.aborted) return;
        const event = events.shift();
        if (event) yield event;
        else if (failure) throw failure;
        else if (isEnded) return;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      signal.removeEventListener("abort", wakeUp);
    }
  }
  return {
    events: drain(),
    push(event) {
      events.push(event);
      wake();
    },
    end(error) {
      failure = error ?? null;
      isEnded = true;
      wake();
    },
  };
}
