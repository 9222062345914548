// The built-in model `builtin/guide`: a provider like any other, but rule-based. It gets the same
// messages and tools as a model would, and answers a few plain requests by really running tools.

import { assertNever } from "../../../shared/assert-never.ts";
import type { CallId } from "../../../shared/ids.ts";
import type { Clock } from "../../clock.ts";
import type { ModelEvent, ModelRequest, Provider } from "../provider.ts";
import { type Conversation, finalReply, type Reply, readConversation } from "./conversation.ts";
import { count } from "./count.ts";
import { HELP, NOT_UNDERSTOOD, NOTHING_TO_TAKE_UP, WELCOME } from "./help.ts";
import { overview } from "./overview.ts";
import { paced } from "./pace.ts";
import { list, read, search } from "./search-and-read.ts";

export const makeGuide = (clock: Clock): Provider => ({
  slug: "builtin",
  models: async () => [
    {
      id: "builtin/guide",
      name: "Guide",
      description:
        "Built in and rule-based: needs no key and no network, understands a few requests.",
    },
  ],
  stream: (request, signal) => answer(request, clock, signal),
});

async function* answer(
  request: ModelRequest,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const reply = withTools(request, replyTo(readConversation(request.messages)));
  for await (const text of paced(reply.text.trimStart(), clock, signal))
    yield { type: "answer", text };
  if (signal.aborted) return;
  const turn = request.messages.filter((message) => message.role === "assistant").length + 1;
  for (const [index, { name, args }] of reply.calls.entries()) {
    const callId = `guide-${turn}-${index + 1}` as CallId;
    yield { type: "call", call: { callId, name, arguments: JSON.stringify(args) } };
  }
  yield { type: "done", reason: reply.calls.length > 0 ? "calls" : "stop" };
}

function replyTo(conversation: Conversation): Reply {
  const { intent } = conversation;
  switch (intent.kind) {
    case "overview":
      return overview(conversation, intent.path);
    case "list":
      return list(conversation, intent.path);
    case "search":
      return search(conversation, intent);
    case "read":
      return read(conversation, intent);
    case "count":
      return count(conversation, intent);
    case "thanks":
      return finalReply(WELCOME);
    case "help":
      return finalReply(HELP);
    case "continue":
      return finalReply(NOTHING_TO_TAKE_UP);
    case "unknown":
      return finalReply(NOT_UNDERSTOOD);
    default:
      return assertNever(intent);
  }
}

/** A session may have its tools unloaded; then the guide can do nothing, and says so. */
function withTools(request: ModelRequest, reply: Reply): Reply {
  const missing = reply.calls.find(({ name }) => !request.tools.some((tool) => tool.name === name));
  if (!missing) return reply;
  return finalReply(
    `For this I need the tool \`${missing.name}\`, which this session does not have.`,
  );
}
