// What models and tools may say.

import type { ScriptedTurn } from "../../server/testing/scripted-provider.ts";
import { long, one } from "./choices.ts";
import { PROBE } from "./simulated-model.ts";
import type { World } from "./world.ts";

export function speak(world: World): string | null {
  const turn = one(world, world.daemon?.model.turns ?? []);
  if (turn === null) return null;
  return say(world, turn);
}

function say(world: World, turn: ScriptedTurn): string {
  const part = world.random.oneIn(4) ? "reasoning" : "answer";
  const word = world.random.pick(["one ", "two ", "drei ", "\u{1f600}", "größe ", "\n\n"]);
  const text = world.random.oneIn(25) ? long(world, word) : `${world.counts.steps}${word}`;
  if (part === "answer") turn.answer(text);
  else turn.reasoning(text);
  return `say ${text.length} of ${part}`;
}

export function useTool(world: World): string | null {
  const tool = one(world, world.daemon?.model.tools ?? []);
  if (tool === null) return null;
  if (world.random.oneIn(2)) {
    const text = `out ${world.counts.steps} `;
    tool.emit(text);
    return `emit ${text.length}`;
  }
  tool.finish({ text: `result ${world.counts.steps}`, isError: world.random.oneIn(4) });
  return "finish a tool";
}

export function finishTurn(world: World): string | null {
  const model = world.daemon?.model;
  const turn = one(world, model?.turns ?? []);
  if (turn === null || model === undefined) return null;
  model.ended(turn);
  const how = world.random.pick(["done", "done", "calls", "calls", "fail", "silence"]);
  if (how === "calls") {
    for (let call = world.random.below(3); call >= 0; call -= 1) turn.call(PROBE, {});
  }
  if (how === "fail") {
    const message = "The provider failed.";
    turn.say({ type: "error", error: { code: "provider_failed", message, retryable: true } });
    turn.silence();
  } else if (how === "silence") turn.silence();
  else turn.done();
  return `end a turn: ${how}`;
}
