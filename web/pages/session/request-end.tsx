// How a request ended: nothing to say when it went well, else what happened and what to do next.

import { Match, Show, Switch } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import type { RequestRow } from "../../../shared/protocol/rows.ts";
import { type CardAction, ProblemCard } from "../../components/problem-card.tsx";
import { wordsFor } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";

export function RequestEnd(props: { sessionId: SessionId; request: RequestRow; isLast: boolean }) {
  const workbench = useWorkbench();
  const { sessionId } = props;
  const actions = (): CardAction[] =>
    props.isLast
      ? [
          { label: "Continue", run: () => workbench.run("session.continue", { sessionId }) },
          { label: "Undo", run: () => workbench.run("session.undo", { sessionId }) },
        ]
      : [];
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
        <Show when={props.isLast} fallback={<p class="quiet">Stopped.</p>}>
          <ProblemCard
            tone="plain"
            what="Stopped."
            todo="What was written is kept."
            actions={actions()}
          />
        </Show>
      </Match>
    </Switch>
  );
}
