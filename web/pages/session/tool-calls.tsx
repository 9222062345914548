// A run of tool calls: quiet ones folded into one line, whatever runs or failed on its own.

import { createMemo, For, Show } from "solid-js";
import { assertNever } from "../../../shared/assert-never.ts";
import type { SessionId } from "../../../shared/ids.ts";
import type { TextBody } from "../../../shared/protocol/rows.ts";
import { smallPart } from "../../components/lazy-part.tsx";
import { Output } from "../../components/output.tsx";
import { ToolLine, type ToolLineState } from "../../components/tool-line.tsx";
import { foldedWords } from "../../state/folded-words.ts";
import { duration } from "../../state/times.ts";
import { foldCalls, type ShownCall } from "../../state/transcript-items.ts";
import { useWorkbench } from "../../state/workbench.ts";

const ProblemText = smallPart(() => import("./problem-text.tsx"));

function lineState(call: ShownCall, isStarted: boolean): ToolLineState {
  switch (call.state) {
    case "pending":
      return isStarted ? "running" : "waiting";
    case "done":
      return "done";
    case "failed":
      return "failed";
    case "cancelled":
    case "interrupted":
      return "stopped";
    default:
      return assertNever(call.state);
  }
}

const outcome = (call: ShownCall) =>
  [call.note, call.durationMs === null ? null : duration(call.durationMs)]
    .filter((word) => word !== null)
    .join(" · ");

const totalMs = (calls: readonly ShownCall[]) =>
  calls.reduce((total, call) => total + (call.durationMs ?? 0), 0);

function CallLine(props: { sessionId: SessionId; call: ShownCall }) {
  const workbench = useWorkbench();
  const load = (output: TextBody) => () => workbench.client.text(output);
  const opened = () => {
    const { output } = props.call;
    if (output === null) return undefined;
    const isMessage = props.call.state === "failed";
    return () => (
      <Output
        load={load(output)}
        failed={(error) => <ProblemText error={error} />}
        isMessage={isMessage}
      />
    );
  };
  return (
    <ToolLine
      text={props.call.description}
      state={lineState(props.call, workbench.isStarted(props.sessionId, props.call.id))}
      outcome={outcome(props.call)}
    >
      {opened()}
    </ToolLine>
  );
}

export function ToolCalls(props: { sessionId: SessionId; calls: readonly ShownCall[] }) {
  const runs = createMemo(() => foldCalls(props.calls));
  const byKey = createMemo(() => new Map(runs().map((run) => [run.key, run])));
  const callsOf = (key: string): readonly ShownCall[] => {
    const run = byKey().get(key);
    if (!run) return [];
    return run.kind === "folded" ? run.calls : [run.call];
  };
  return (
    <div class="steps">
      <For each={runs().map(({ key }) => key)}>
        {(key) => (
          <Show
            when={byKey().get(key)?.kind === "folded"}
            fallback={
              <Show when={callsOf(key)[0]}>
                {(call) => <CallLine sessionId={props.sessionId} call={call()} />}
              </Show>
            }
          >
            <ToolLine
              text={foldedWords(callsOf(key))}
              state="done"
              outcome={duration(totalMs(callsOf(key)))}
            >
              {() => (
                <div class="folded">
                  <For each={callsOf(key)}>
                    {(call) => <CallLine sessionId={props.sessionId} call={call} />}
                  </For>
                </div>
              )}
            </ToolLine>
          </Show>
        )}
      </For>
    </div>
  );
}
