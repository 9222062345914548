// Over the page, where a part of it could not be loaded: why, and the way on.

import { createSignal, onMount } from "solid-js";
import { usePageTools } from "../../state/page-tools.ts";

type Why = "unknown" | "updated" | "away";

const WORDS = {
  unknown: {
    title: "This part could not be loaded",
    text: "Asking the daemon whether it was updated.",
  },
  updated: {
    title: "Update ready",
    text: "Troupe was updated while this page was open. Reload to go on. What you wrote is kept.",
  },
  away: {
    title: "This part is not on this device",
    text: "The daemon does not answer. Start it with troupe, then reload. What is on screen stays.",
  },
} as const satisfies Record<Why, { title: string; text: string }>;

/** Whatever answers has the page it came with: then it is this one that is old. */
async function findWhy(): Promise<Why> {
  try {
    const answer = await fetch("/healthz", { cache: "no-store" });
    return answer.ok ? "updated" : "away";
  } catch {
    return "away";
  }
}

export function PartMissing() {
  const { dialogs, update } = usePageTools();
  const [why, setWhy] = createSignal<Why>("unknown");
  let reload: HTMLButtonElement | undefined;
  onMount(() => {
    reload?.focus();
    void findWhy().then(setWhy);
  });
  const leave = () => {
    if (dialogs.current() === null) history.back();
    else dialogs.close();
  };
  return (
    <div class="dialog-place">
      <div
        class="dialog"
        role="alertdialog"
        aria-labelledby="missing"
        aria-describedby="missing-why"
      >
        <header>
          <h2 id="missing">{WORDS[why()].title}</h2>
        </header>
        <p id="missing-why" class="muted">
          {WORDS[why()].text}
        </p>
        <div class="row ends">
          <button type="button" class="btn" onClick={leave}>
            Back
          </button>
          <button
            ref={reload}
            type="button"
            class="btn primary"
            onClick={() => void update.apply()}
          >
            Reload
          </button>
        </div>
      </div>
    </div>
  );
}
