// Who else looks at this now: a mark for each device, its name for those who hover or listen.

import { For, Show } from "solid-js";
import { initials } from "./initials.ts";

const FACES_MAX = 3;

export default function Faces(props: { names: readonly string[] }) {
  const words = () => `Also open on: ${props.names.join(", ")}`;
  const left = () => props.names.length - FACES_MAX;
  return (
    <span class="faces hide-s" role="img" aria-label={words()} title={words()}>
      <For each={props.names.slice(0, FACES_MAX)}>{(name) => <i>{initials(name)}</i>}</For>
      <Show when={left() > 0}>
        <i>+{left()}</i>
      </Show>
    </span>
  );
}
