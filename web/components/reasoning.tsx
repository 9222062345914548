// What the model thought: one quiet line that opens in place. While it thinks, its last line shows.

import ChevronRight from "lucide-solid/icons/chevron-right";
import { createSignal, createUniqueId, Show } from "solid-js";
import { Prose, type ShowProse } from "./prose.tsx";

export function Reasoning(props: {
  words: string;
  isLive: boolean;
  /** The turn runs: whether it thought at all is not known yet. */
  mayBeEmpty: boolean;
  show: ShowProse;
  onBlocks: (count: number) => void;
}) {
  const [isOpen, setIsOpen] = createSignal(false);
  const [blocks, setBlocks] = createSignal(0);
  const noteBlocks = (count: number) => {
    setBlocks(count);
    props.onBlocks(count);
  };
  const bodyId = createUniqueId();
  const isShown = () => isOpen() || props.isLive;
  return (
    <div class="reasoning" hidden={props.mayBeEmpty && blocks() === 0}>
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
      <Show when={isShown() || props.mayBeEmpty}>
        <div id={bodyId} class={isOpen() ? "thought" : "thought last-line"} hidden={!isShown()}>
          <Prose show={props.show} onBlocks={noteBlocks} />
        </div>
      </Show>
    </div>
  );
}
