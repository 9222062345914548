// One of several, each with a line that explains it.

import { createUniqueId, For } from "solid-js";

export interface Choice {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly aside: string;
}

export function ChoiceList(props: {
  label: string;
  choices: readonly Choice[];
  chosen: string | null;
  onChoose: (id: string) => void;
}) {
  const name = createUniqueId();
  return (
    <div role="radiogroup" aria-label={props.label}>
      <For each={props.choices}>
        {(choice) => (
          <label class="choice">
            <input
              type="radio"
              class="hidden"
              name={name}
              checked={choice.id === props.chosen}
              onChange={() => props.onChoose(choice.id)}
            />
            <b>{choice.name}</b>
            <span>{choice.description}</span>
            <em>{choice.aside}</em>
          </label>
        )}
      </For>
    </div>
  );
}
