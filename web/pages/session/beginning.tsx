// What a transcript says where it has nothing to show: nothing was asked, or it is not in this browser.

import { Match, Show, Switch } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import { fetchingWords } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";

export function Beginning(props: { sessionId: SessionId; isEmpty: boolean }) {
  const workbench = useWorkbench();
  const isWhole = () => workbench.opened(props.sessionId)?.isWhole ?? true;
  const words = () =>
    fetchingWords(workbench.connection(), {
      here: Object.keys(workbench.rows.turn[props.sessionId] ?? {}).length,
      all: workbench.rows.session[props.sessionId]?.turnCount ?? 0,
    });
  return (
    <Switch>
      <Match when={!isWhole()}>
        <p class="quiet nothing-yet" role="status">
          {words()}
        </p>
      </Match>
      <Match when={props.isEmpty}>
        <p class="quiet nothing-yet">
          Nothing asked yet.
          <Show when={!workbench.isViewer()}> Try “What is in this folder?” below.</Show>
        </p>
      </Match>
    </Switch>
  );
}
