// One request: what was asked, and the turns it led to.

import { createMemo, createResource, For, Match, Show, Switch } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import type { RequestRow } from "../../../shared/protocol/rows.ts";
import { sameTurns, type TurnEntry } from "../../state/request-list.ts";
import { type TranscriptItem, transcriptItems } from "../../state/transcript-items.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { RequestEnd } from "./request-end.tsx";
import { RequestFooter } from "./request-footer.tsx";
import { ToolCalls } from "./tool-calls.tsx";
import { Answer, Thought } from "./turn-part.tsx";

export function RequestView(props: {
  sessionId: SessionId;
  requestId: string;
  request: RequestRow;
  turns: readonly TurnEntry[] | undefined;
  isLast: boolean;
  /** The turn the address points at. */
  markedTurn: number | null;
}) {
  const workbench = useWorkbench();
  const turns = createMemo(() => props.turns ?? [], [], { equals: sameTurns });
  const items = createMemo(() =>
    transcriptItems(turns(), workbench.rows.toolResult[props.sessionId] ?? {}),
  );
  const itemsByKey = createMemo(() => new Map(items().map((item) => [item.key, item])));
  const isMarked = () => turns().some(([id]) => id === props.markedTurn);
  return (
    <article
      class="request"
      data-request={props.requestId}
      data-marked={isMarked() ? "" : undefined}
    >
      <For each={turns().map(([id]) => id)}>{(id) => <span id={`t${id}`} class="anchor" />}</For>
      <Show when={props.request.kind === "prompt"} fallback={<p class="went-on">Asked to go on</p>}>
        <Said request={props.request} />
      </Show>
      <div class="answer">
        <For each={items().map(({ key }) => key)}>
          {(key) => (
            <Show when={itemsByKey().get(key)}>
              {(item) => <Item sessionId={props.sessionId} item={item()} turns={turns()} />}
            </Show>
          )}
        </For>
      </div>
      <RequestEnd sessionId={props.sessionId} request={props.request} isLast={props.isLast} />
      <Show when={props.request.state !== "running" && turns().length > 0}>
        <RequestFooter sessionId={props.sessionId} turns={turns()} />
      </Show>
    </article>
  );
}

function Said(props: { request: RequestRow }) {
  const workbench = useWorkbench();
  const [whole] = createResource(
    () => (props.request.text.blob === null ? null : props.request.text),
    (body) => workbench.client.text(body),
  );
  // A text that could not be fetched shows as far as the row has it.
  const text = () => (whole.state === "ready" ? whole() : undefined) ?? props.request.text.head;
  return <div class="said">{text()}</div>;
}

function Item(props: { sessionId: SessionId; item: TranscriptItem; turns: readonly TurnEntry[] }) {
  const turn = () => props.turns.find(([id]) => id === props.item.turnId)?.[1];
  return (
    <Show when={turn()}>
      {(row) => (
        <Switch>
          <Match when={props.item.kind === "reasoning"}>
            <Thought sessionId={props.sessionId} turnId={props.item.turnId} turn={row()} />
          </Match>
          <Match when={props.item.kind === "answer"}>
            <Answer sessionId={props.sessionId} turnId={props.item.turnId} turn={row()} />
          </Match>
          <Match when={props.item.kind === "calls" && props.item}>
            {(calls) => <ToolCalls sessionId={props.sessionId} calls={calls().calls} />}
          </Match>
        </Switch>
      )}
    </Show>
  );
}
