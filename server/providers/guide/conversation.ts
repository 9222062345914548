// Where a conversation stands: what was last asked, and what the tools have said since.

import type { ModelCall, ModelMessage } from "../provider.ts";
import { type Intent, readIntent } from "./intent.ts";

export interface ToolAnswer {
  readonly name: string;
  /** Empty if the arguments are no JSON object. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

export interface Conversation {
  readonly intent: Intent;
  /** True when the intent is that of an earlier request, taken up again. */
  readonly isTakenUp: boolean;
  /** Since the last thing the user said, in order. */
  readonly answers: readonly ToolAnswer[];
}

/** A turn of the guide: what it says, and the tools it wants next; none means that it is finished. */
export interface Reply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly args: Record<string, unknown> }[];
}

export const finalReply = (text: string): Reply => ({ text, calls: [] });

/** A tool's words without the advice to models that they end in. */
export const forPeople = (text: string): string =>
  text.replace(/ Use (?:list_files|read_file)\b[^.]*\.$/, "");

export function readConversation(messages: readonly ModelMessage[]): Conversation {
  const lastUser = messages.findLastIndex((message) => message.role === "user");
  const asked = messages
    .slice(0, lastUser + 1)
    .flatMap((each) => (each.role === "user" ? [readIntent(each.text)] : []));
  const last = asked.pop() ?? { kind: "help" };
  const answers = readAnswers(messages.slice(lastUser + 1));
  if (last.kind !== "continue") return { intent: last, isTakenUp: false, answers };
  const earlier = asked.findLast(
    ({ kind }) => kind !== "continue" && kind !== "unknown" && kind !== "thanks",
  );
  return earlier
    ? { intent: earlier, isTakenUp: true, answers }
    : { intent: last, isTakenUp: false, answers };
}

function readAnswers(messages: readonly ModelMessage[]): ToolAnswer[] {
  let calls: readonly ModelCall[] = [];
  const answers: ToolAnswer[] = [];
  for (const message of messages) {
    if (message.role === "assistant") calls = message.calls;
    if (message.role !== "tool") continue;
    const call = calls.find((each) => each.callId === message.callId);
    answers.push({
      name: message.name,
      args: parseArguments(call?.arguments ?? ""),
      text: message.text,
      isError: message.isError,
    });
  }
  return answers;
}

function parseArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    // The guide writes its own arguments; what is no JSON is not from it.
    return {};
  }
}
