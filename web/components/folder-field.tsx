// A path with completion: what stands at it, and how it may go on.

import { createEffect, createSignal, createUniqueId, For, on } from "solid-js";

export function FolderField(props: {
  value: string;
  onInput: (path: string) => void;
  /** The folder that stands when nothing is typed. */
  placeholder: string;
  completions: readonly string[];
  /** What is at the path, e.g. "git · main · 1,204 files". */
  facts: string;
  problem: string | null;
  /** Something to know that is no problem. */
  note: string | null;
}) {
  const [isListOpen, setIsListOpen] = createSignal(false);
  const [active, setActive] = createSignal(-1);
  const id = createUniqueId();
  const optionId = (at: number) => `${id}-${at}`;
  createEffect(
    on(
      () => props.completions,
      () => setActive(-1),
    ),
  );
  const hasList = () => isListOpen() && props.completions.length > 0;

  const choose = (path: string) => {
    props.onInput(`${path}/`);
    setActive(-1);
  };
  const move = (by: number) => {
    setIsListOpen(true);
    const { length } = props.completions;
    if (length > 0) setActive((at) => (at + by + length + (at < 0 && by < 0 ? 1 : 0)) % length);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const chosen = props.completions[active()];
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter" && hasList() && chosen) choose(chosen);
    else if (event.key === "Escape" && hasList()) setIsListOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="folder-field" onFocusOut={() => setIsListOpen(false)}>
      <div class="field" classList={{ bad: props.problem !== null }}>
        <input
          type="text"
          role="combobox"
          aria-label="Folder"
          aria-expanded={hasList()}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={active() >= 0 ? optionId(active()) : undefined}
          aria-invalid={props.problem !== null}
          aria-describedby={`${id}-facts`}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={props.placeholder}
          value={props.value}
          onInput={(event) => {
            setIsListOpen(true);
            props.onInput(event.currentTarget.value);
          }}
          onClick={() => setIsListOpen(true)}
          onKeyDown={onKeyDown}
        />
        <span class="facts">{props.facts}</span>
      </div>
      <div
        id={`${id}-list`}
        role="listbox"
        aria-label="Folders"
        class="completions"
        hidden={!hasList()}
      >
        <For each={props.completions}>
          {(path, at) => (
            <div
              id={optionId(at())}
              role="option"
              class="completion"
              tabIndex={-1}
              aria-selected={at() === active()}
              onPointerDown={(event) => {
                event.preventDefault();
                choose(path);
              }}
            >
              {path}
            </div>
          )}
        </For>
      </div>
      <p
        id={`${id}-facts`}
        class="field-note"
        classList={{ bad: props.problem !== null }}
        role="status"
      >
        {props.problem ?? props.note}
      </p>
    </div>
  );
}
