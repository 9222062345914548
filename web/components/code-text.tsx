// A sentence whose `code spans` stand in backticks. Text only: nothing in it is read as markup.

import { For } from "solid-js";
import { splitCode } from "./split-code.ts";

export function CodeText(props: { text: string }) {
  return (
    <For each={splitCode(props.text)}>
      {(piece, at) => (at() % 2 === 1 ? <code>{piece}</code> : piece)}
    </For>
  );
}
