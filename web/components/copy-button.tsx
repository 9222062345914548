// Copies a text and says so for a moment.

import Check from "lucide-solid/icons/check";
import Copy from "lucide-solid/icons/copy";
import { createSignal, onCleanup, Show } from "solid-js";

const SAID_FOR_MS = 1_500;

type Outcome = "none" | "copied" | "failed";

export function CopyButton(props: {
  label: string;
  /** Asked for when pressed: the text may have to be fetched. */
  text: () => string | Promise<string>;
  class?: string;
  /** Show the word as well as the icon. */
  worded?: boolean;
}) {
  const [outcome, setOutcome] = createSignal<Outcome>("none");
  let timer: ReturnType<typeof setTimeout> | undefined;
  onCleanup(() => clearTimeout(timer));

  const copy = async () => {
    let said: Outcome = "copied";
    try {
      await navigator.clipboard.writeText(await props.text());
    } catch {
      // No clipboard over plain http, or no permission: said on the button.
      said = "failed";
    }
    setOutcome(said);
    clearTimeout(timer);
    timer = setTimeout(() => setOutcome("none"), SAID_FOR_MS);
  };

  const words = () =>
    ({ none: props.worded ? "Copy" : "", copied: "Copied", failed: "Could not copy" })[outcome()];
  return (
    <button
      type="button"
      class={props.class ?? "quiet-button"}
      aria-label={props.label}
      onClick={copy}
    >
      <Show when={outcome() === "copied"} fallback={<Copy size={14} aria-hidden="true" />}>
        <Check size={14} aria-hidden="true" />
      </Show>
      <Show when={words()}>
        <span aria-live="polite">{words()}</span>
      </Show>
    </button>
  );
}
