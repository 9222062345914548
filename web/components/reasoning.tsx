// What the model thought: one quiet line that opens in place. While it thinks, its last line shows.

import ChevronRight from "lucide-solid/icons/chevron-right";
import { createSignal, createUniqueId, Show } from "solid-js";
import { Prose, type ShowProse } from "./prose.tsx";

export function Reasoning(props: { words: string; isLive: boolean; show: ShowProse }) {
  const [isOpen, setIsOpen] = createSignal(false);
  const [blocks, setBlocks] = createSignal(0);
  const bodyId = createUniqueId();
  const isShown = () => isOpen() || props.isLive;
  return (
    <div class="reasoning" hidden={props.isLive && blocks() === 0}>
      <button
        type="button"
        class="think"
        aria-expanded={isOpen()}
        aria-controls={isShown() ? bodyId : undefined}
        onClick={() => setIsOpen(!isOpen())}
      >
        <ChevronRight size={14} aria-hidden="true" />
        {props.words}
      </button>
      <Show when={isShown()}>
        <div id={bodyId} class={isOpen() ? "thought" : "thought last-line"}>
          <Prose show={props.show} onBlocks={setBlocks} />
        </div>
      </Show>
    </div>
  );
}
