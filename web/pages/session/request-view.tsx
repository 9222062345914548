// One request: what was asked, and the turns it led to.

import { createMemo, createResource, For, Match, Show, Switch } from "solid-js";
import { createStore } from "solid-js/store";
import type { SessionId } from "../../../shared/ids.ts";
import type { RequestRow } from "../../../shared/protocol/rows.ts";
import { smallPart } from "../../components/lazy-part.tsx";
import { endedBadly, isUnbegun, sameTurns, type TurnEntry } from "../../state/request-list.ts";
import { type TranscriptItem, transcriptItems } from "../../state/transcript-items.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { RequestFooter } from "./request-footer.tsx";
import { ToolCalls } from "./tool-calls.tsx";
import { Answer, Thought } from "./turn-part.tsx";
import { Waiting } from "./waiting.tsx";

const RequestEnd = smallPart(() => import("./request-end.tsx"));

export function RequestView(props: {
  sessionId: SessionId;
  requestId: string;
  request: RequestRow;
  turns: readonly TurnEntry[] | undefined;
  /** It is the last and over: what is offered at its end can be done. */
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
  // By item key: what of a running turn can be seen. Only the screen knows: rows come at a turn's end.
  const [blocks, setBlocks] = createStore<Record<string, number>>({});
  const isAnythingMoving = () =>
    items().some((item) => {
      if (item.kind === "calls") return item.calls.some(({ state }) => state === "pending");
      const turn = turns().find(([id]) => id === item.turnId)?.[1];
      return turn?.state === "streaming" && (blocks[item.key] ?? 0) > 0;
    });
  const isMarked = () => turns().some(([id]) => id === props.markedTurn);
  return (
    <article
      class="request"
      data-request={props.requestId}
      data-marked={isMarked() ? "" : undefined}
    >
      <h2 class="hidden">Prompt {props.request.seq}</h2>
      <For each={turns().map(([id]) => id)}>{(id) => <span id={`t${id}`} class="anchor" />}</For>
      <Show when={props.request.kind === "prompt"} fallback={<p class="went-on">Asked to go on</p>}>
        <Said request={props.request} />
      </Show>
      <div class="answer">
        <For each={items().map(({ key }) => key)}>
          {(key) => (
            <Show when={itemsByKey().get(key)}>
              {(item) => (
                <Item
                  sessionId={props.sessionId}
                  item={item()}
                  turns={turns()}
                  hasAnswerBegun={(blocks[`a${item().turnId}`] ?? 0) > 0}
                  onBlocks={(count) => setBlocks(item().key, count)}
                />
              )}
            </Show>
          )}
        </For>
        <Show when={props.request.state === "running" && !isAnythingMoving()}>
          <Waiting
            doing={workbench.doing(props.sessionId)}
            since={props.request.startedAt ?? props.request.createdAt}
          />
        </Show>
      </div>
      <Show when={endedBadly(props.request)}>
        <RequestEnd sessionId={props.sessionId} request={props.request} isLast={props.isLast} />
      </Show>
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
  return (
    <div class="said" classList={{ waiting: isUnbegun(props.request) }} dir="auto">
      {text()}
    </div>
  );
}

function Item(props: {
  sessionId: SessionId;
  item: TranscriptItem;
  turns: readonly TurnEntry[];
  hasAnswerBegun: boolean;
  onBlocks: (count: number) => void;
}) {
  const turn = () => props.turns.find(([id]) => id === props.item.turnId)?.[1];
  return (
    <Show when={turn()}>
      {(row) => (
        <Switch>
          <Match when={props.item.kind === "reasoning"}>
            <Thought
              sessionId={props.sessionId}
              turnId={props.item.turnId}
              turn={row()}
              hasAnswerBegun={props.hasAnswerBegun}
              onBlocks={props.onBlocks}
            />
          </Match>
          <Match when={props.item.kind === "answer"}>
            <Answer
              sessionId={props.sessionId}
              turnId={props.item.turnId}
              turn={row()}
              onBlocks={props.onBlocks}
            />
          </Match>
          <Match when={props.item.kind === "calls" && props.item}>
            {(calls) => <ToolCalls sessionId={props.sessionId} calls={calls().calls} />}
          </Match>
        </Switch>
      )}
    </Show>
  );
}
