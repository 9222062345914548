// How a request ended that did not go well: what happened, and what to do next.

import { Match, Show, Switch } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import type { RequestRow } from "../../../shared/protocol/rows.ts";
import { type CardAction, ProblemCard } from "../../components/problem-card.tsx";
import { wordsFor } from "../../state/error-words.ts";
import { isUnbegun } from "../../state/request-list.ts";
import { useWorkbench } from "../../state/workbench.ts";

export default function RequestEnd(props: {
  sessionId: SessionId;
  request: RequestRow;
  isLast: boolean;
}) {
  const workbench = useWorkbench();
  const { sessionId } = props;
  const actions = (): CardAction[] =>
    props.isLast && !workbench.isViewer()
      ? [
          { label: goOn(), run: () => workbench.run("session.continue", { sessionId }) },
          { label: "Undo", run: () => workbench.run("session.undo", { sessionId }) },
        ]
      : [];
  const goOn = () => {
    const { state, error } = props.request;
    return state === "failed" && error?.code !== "turn_limit" ? "Try again" : "Continue";
  };
  const stopped = () =>
    isUnbegun(props.request)
      ? { what: "Taken out of the queue.", todo: "It had not begun." }
      : { what: "Stopped.", todo: "What was written is kept." };
  return (
    <Switch>
      <Match when={props.request.state === "failed"}>
        <ProblemCard
          tone="bad"
          {...wordsFor(props.request.error ?? { code: "internal" })}
          detail={props.request.error?.message}
          actions={actions()}
        />
      </Match>
      <Match when={props.request.state === "interrupted"}>
        <ProblemCard tone="bad" {...wordsFor({ code: "interrupted" })} actions={actions()} />
      </Match>
      <Match when={props.request.state === "cancelled"}>
        <Show when={props.isLast} fallback={<p class="quiet ended">{stopped().what}</p>}>
          <ProblemCard tone="plain" {...stopped()} actions={actions()} />
        </Show>
      </Match>
    </Switch>
  );
}
