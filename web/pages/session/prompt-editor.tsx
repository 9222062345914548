// Changes a prompt in its place. Loaded when one is first changed.

import { createSignal, onCleanup, onMount, untrack } from "solid-js";
import { PROMPT_MAX_BYTES } from "../../../shared/limits.ts";
import { grow } from "../../components/grow.ts";
import { createFocusHeir } from "../../components/return-focus.ts";

export default function PromptEditor(props: {
  text: string;
  action: string;
  onSave: (text: string) => void;
  onCancel: () => void;
  /** It is gone, with a text in it that was neither saved nor given up. */
  onLeft: (text: string) => void;
}) {
  const before = untrack(() => props.text);
  const [text, setText] = createSignal(before);
  let isDone = false;
  let form: HTMLFormElement | undefined;
  let box: HTMLTextAreaElement | undefined;
  const canSave = () => text().trim() !== "" && text().length <= PROMPT_MAX_BYTES;
  const end = (act: () => void) => {
    isDone = true;
    act();
  };
  const save = () => canSave() && end(() => props.onSave(text()));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      end(props.onCancel);
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      save();
    }
  };
  createFocusHeir(() => form);
  onMount(() => {
    if (!box) return;
    grow(box);
    box.focus();
    box.setSelectionRange(before.length, before.length);
  });
  onCleanup(() => {
    if (!isDone && text() !== before && text().trim() !== "") props.onLeft(text());
  });
  return (
    <form
      ref={form}
      class="box editor"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <textarea
        ref={box}
        rows="1"
        aria-label="Edit the prompt"
        dir="auto"
        value={text()}
        onInput={(event) => {
          setText(event.currentTarget.value);
          grow(event.currentTarget);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="row tools">
        <button type="button" class="btn" onClick={() => end(props.onCancel)}>
          Cancel
        </button>
        <button type="submit" class="btn primary" disabled={!canSave()}>
          {props.action}
        </button>
      </div>
    </form>
  );
}
