// Where prompts are written. Takes them at any time: running ones queue, offline ones wait.

import ArrowUp from "lucide-solid/icons/arrow-up";
import Square from "lucide-solid/icons/square";
import { createEffect, createSignal, on, onCleanup, onMount, Show, untrack } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import { PROMPT_MAX_BYTES } from "../../../shared/limits.ts";
import { grow } from "../../components/grow.ts";
import { smallPart } from "../../components/lazy-part.tsx";
import { createFocusHeir } from "../../components/return-focus.ts";
import type { RequestList } from "../../state/request-list.ts";
import { counted } from "../../state/times.ts";
import { modelName } from "../../state/words.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { createRecall } from "./recall.ts";

const Queue = smallPart(() => import("./queue.tsx"));

const DRAFT_PAUSE_MS = 250;

export interface ComposerProps {
  sessionId: SessionId;
  requests: RequestList;
  isRunning: boolean;
  model: string | null;
  tokens: number;
  /** A prompt went out: the reader wants to see what comes. */
  onSent: () => void;
  /** Hands out the way to put a text into the box, after what stands there. */
  onReady: (take: (text: string) => void) => void;
}

export function Composer(props: ComposerProps) {
  const workbench = useWorkbench();
  const { sessionId } = props;
  const { text, write, saveNow } = createDraft(sessionId);
  const recall = createRecall(() => props.requests, workbench.client);
  const isOnline = () => workbench.connection().kind === "live";
  const isTooLong = () => text().length > PROMPT_MAX_BYTES;
  let box: HTMLTextAreaElement | undefined;

  const send = () => {
    if (text().trim() === "" || isTooLong()) return;
    workbench.run("session.prompt", { sessionId, text: text() });
    write("");
    saveNow();
    recall.reset();
    props.onSent();
  };
  props.onReady((typed) => {
    write(text().trim() === "" ? typed : `${text()}\n\n${typed}`);
    saveNow();
  });
  const stop = () => workbench.run("session.stop", { sessionId });

  const onKeyDown = (event: KeyboardEvent) => {
    const act = keyAct(event, { text: text(), isRunning: props.isRunning, isAt: recall.isAt });
    if (act === null) return;
    event.preventDefault();
    if (act === "send") send();
    else if (act === "stop") stop();
    else if (act === "recall")
      void recall.back().then((prompt) => prompt !== null && write(prompt));
    else workbench.run(act, { sessionId });
  };

  createEffect(on(text, () => box && grow(box)));
  onMount(() => {
    // On a touch screen focus would raise the keyboard over what one came to read.
    if (window.matchMedia("(pointer: fine)").matches) box?.focus();
  });

  return (
    <div class="composer">
      <div class="column">
        <Show when={props.requests.queued.length > 0}>
          <Queue sessionId={sessionId} queued={props.requests.queued} />
        </Show>
        <div class="box">
          <textarea
            ref={box}
            rows="1"
            aria-label="Prompt"
            aria-describedby="composer-hint"
            dir="auto"
            placeholder={props.isRunning ? "Ask next…" : "Ask about this folder…"}
            enterkeyhint="send"
            value={text()}
            onInput={(event) => write(event.currentTarget.value)}
            onKeyDown={onKeyDown}
          />
          <Tools
            model={props.model}
            tokens={props.tokens}
            isRunning={props.isRunning}
            isOnline={isOnline()}
            isTooLong={isTooLong()}
            isEmpty={text().trim() === ""}
            onSend={send}
            onStop={stop}
          />
        </div>
      </div>
    </div>
  );
}

type KeyAct = "send" | "stop" | "recall" | "session.undo" | "session.redo";

/** What a key means in the box; null: what it always does. */
function keyAct(
  event: KeyboardEvent,
  box: { text: string; isRunning: boolean; isAt: (text: string) => boolean },
): KeyAct | null {
  if (event.isComposing || event.shiftKey || event.ctrlKey || event.metaKey) return null;
  switch (event.key) {
    case "Enter":
      return event.altKey ? null : "send";
    case "Escape":
      return box.text === "" && box.isRunning ? "stop" : null;
    case "ArrowUp":
      if (event.altKey) return "session.undo";
      return box.isAt(box.text) ? "recall" : null;
    case "ArrowDown":
      return event.altKey ? "session.redo" : null;
    default:
      return null;
  }
}

function Tools(props: {
  model: string | null;
  tokens: number;
  isRunning: boolean;
  isOnline: boolean;
  isTooLong: boolean;
  isEmpty: boolean;
  onSend: () => void;
  onStop: () => void;
}) {
  return (
    <div class="row tools">
      <Show when={props.model}>{(model) => <span class="pill">{modelName(model())}</span>}</Show>
      <Show when={props.tokens > 0}>
        <span class="pill hide-s">{counted(props.tokens, "token")}</span>
      </Show>
      <span id="composer-hint" class="hint" classList={{ bad: props.isTooLong }}>
        {hint(props)}
      </span>
      <Show when={props.isRunning}>
        <StopButton onStop={props.onStop} />
      </Show>
      <Show when={!props.isRunning || !props.isEmpty}>
        <button
          type="button"
          class="send"
          aria-label={props.isRunning ? "Queue prompt" : "Send"}
          disabled={props.isEmpty || props.isTooLong}
          onClick={props.onSend}
        >
          <ArrowUp size={16} aria-hidden="true" />
        </button>
      </Show>
    </div>
  );
}

/** Gone as soon as there is nothing to stop, also when that happens by itself. */
function StopButton(props: { onStop: () => void }) {
  let button: HTMLButtonElement | undefined;
  createFocusHeir(() => button);
  return (
    <button
      ref={button}
      type="button"
      class="send"
      aria-label="Stop"
      title="Stop (Esc)"
      onClick={props.onStop}
    >
      <Square size={12} fill="currentColor" aria-hidden="true" />
    </button>
  );
}

function hint(state: { isOnline: boolean; isTooLong: boolean; isRunning: boolean }): string {
  if (state.isTooLong) return "Too long: put it into a file in the folder";
  if (!state.isOnline) return "Offline: sent when the daemon is back";
  return state.isRunning ? "Enter queues" : "";
}

function createDraft(sessionId: SessionId) {
  const workbench = useWorkbench();
  const initial = untrack(() => workbench.draft(sessionId));
  const [text, setText] = createSignal(initial);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let saved = initial;
  const saveNow = () => {
    clearTimeout(timer);
    if (text() === saved) return;
    saved = text();
    workbench.saveDraft(sessionId, saved);
  };
  const saveWhenHidden = () => document.visibilityState === "hidden" && saveNow();
  onMount(() => document.addEventListener("visibilitychange", saveWhenHidden));
  onCleanup(() => {
    document.removeEventListener("visibilitychange", saveWhenHidden);
    saveNow();
  });
  const write = (next: string) => {
    setText(next);
    clearTimeout(timer);
    timer = setTimeout(saveNow, DRAFT_PAUSE_MS);
  };
  return { text, write, saveNow };
}
