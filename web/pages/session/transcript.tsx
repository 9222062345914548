// The transcript: requests in order, prompts still on their way, and the place the reader is at.

import { useLocation } from "@solidjs/router";
import ArrowDown from "lucide-solid/icons/arrow-down";
import { createMemo, For, Show } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import { createFocusHeir } from "../../components/return-focus.ts";
import { pendingPrompts } from "../../state/pending.ts";
import { type RequestList, turnsByRequest } from "../../state/request-list.ts";
import { counted } from "../../state/times.ts";
import { turnOfHash } from "../../state/turn-link.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { Beginning } from "./beginning.tsx";
import { Pending } from "./pending-prompt.tsx";
import { createPlaceKeeping } from "./place-keeping.ts";
import { RequestView } from "./request-view.tsx";

export function Transcript(props: {
  sessionId: SessionId;
  requests: RequestList;
  /** Hands out the way to the end. */
  onReady: (toEnd: () => void) => void;
  /** A change to a prompt came to nothing: its text goes where it can still be used. */
  onUnused: (text: string) => void;
}) {
  const workbench = useWorkbench();
  const location = useLocation();
  const { sessionId } = props;
  const ids = createMemo(() => props.requests.shown.map(([id]) => id));
  const requestsById = createMemo(() => new Map(props.requests.shown));
  const turns = createMemo(() => turnsByRequest(workbench.rows.turn[sessionId] ?? {}));
  const pending = createMemo(() => {
    const taken = workbench.rows.request[sessionId];
    const prompts = pendingPrompts(workbench.outbox(), sessionId);
    return new Map(prompts.filter(({ id }) => !taken?.[id]).map((prompt) => [prompt.id, prompt]));
  });
  const pendingIds = createMemo(() => [...pending().keys()]);
  const markedTurn = () => turnOfHash(location.hash);
  const { keeper, attach, hasEarlier } = createPlaceKeeping({ sessionId, ids, markedTurn });
  props.onReady(keeper.toEnd);

  // What stood last when the reader left the end; what comes after it is new.
  const lastWhenLeft = createMemo<string | undefined>((before) =>
    keeper.isAtEnd() ? ids().at(-1) : before,
  );
  const isRunning = () => props.requests.shown.some(([, { state }]) => state === "running");
  const isNewBelow = () => isRunning() || ids().at(-1) !== lastWhenLeft() || pending().size > 0;

  return (
    <div class="transcript">
      <div class="scroll" ref={attach.scroller}>
        <div class="column" ref={attach.content}>
          <Show when={hasEarlier()}>
            <p class="quiet earlier">Loading earlier turns…</p>
          </Show>
          <For each={ids()}>
            {(id) => (
              <Show when={requestsById().get(id)}>
                {(request) => (
                  <RequestView
                    sessionId={sessionId}
                    requestId={id}
                    request={request()}
                    turns={turns().get(id)}
                    isLast={ids().at(-1) === id && !isRunning()}
                    markedTurn={markedTurn()}
                  />
                )}
              </Show>
            )}
          </For>
          <For each={pendingIds()}>
            {(id) => (
              <Show when={pending().get(id)}>
                {(prompt) => (
                  <Pending sessionId={sessionId} prompt={prompt()} onUnused={props.onUnused} />
                )}
              </Show>
            )}
          </For>
          <Beginning sessionId={sessionId} isEmpty={ids().length + pendingIds().length === 0} />
          <Undone sessionId={sessionId} count={props.requests.undoneCount} />
        </div>
      </div>
      <Show when={!keeper.isAtEnd()}>
        <ToEnd words={isNewBelow() ? "New below" : "To the end"} onClick={keeper.toEnd} />
      </Show>
    </div>
  );
}

function ToEnd(props: { words: string; onClick: () => void }) {
  let button: HTMLButtonElement | undefined;
  createFocusHeir(() => button);
  return (
    <button ref={button} type="button" class="new-below" onClick={props.onClick}>
      <ArrowDown size={14} aria-hidden="true" /> {props.words}
    </button>
  );
}

function Undone(props: { sessionId: SessionId; count: number }) {
  const workbench = useWorkbench();
  return (
    <Show when={props.count > 0}>
      <p class="quiet undone">
        {counted(props.count, "prompt")} undone.
        <Show when={!workbench.isViewer()}>
          <RedoButton
            onRedo={() => workbench.run("session.redo", { sessionId: props.sessionId })}
          />
        </Show>
      </p>
    </Show>
  );
}

function RedoButton(props: { onRedo: () => void }) {
  let button: HTMLButtonElement | undefined;
  createFocusHeir(() => button);
  return (
    <button ref={button} type="button" class="quiet-button" onClick={props.onRedo}>
      Redo
    </button>
  );
}
