// The first visit: three steps on one page, and it can be skipped.

import { useNavigate } from "@solidjs/router";
import { Show } from "solid-js";
import { createSessionSetup } from "../../state/session-setup.ts";
import { useWorkbench } from "../../state/workbench.ts";
import { SetupSteps } from "./setup-steps.tsx";

export default function Welcome(props: {
  /** It has been seen and is not shown again. */
  onDone: () => void;
}) {
  const setup = createSessionSetup(useWorkbench());
  const navigate = useNavigate();
  const start = () => {
    if (setup.missing() !== null) return;
    const sessionId = setup.start();
    props.onDone();
    navigate(`/s/${sessionId}`);
  };
  return (
    <main class="center sheet">
      <div class="narrow">
        <h1 class="lede">Where should your agents work?</h1>
        <p class="muted under-lede">
          Everything stays on this machine. You can change each of these later.
        </p>
        <SetupSteps setup={setup} onSubmit={start} />
        <div class="row ends">
          <button type="button" class="quiet-button" onClick={props.onDone}>
            Skip
          </button>
          <Show when={setup.missing()}>{(missing) => <span class="quiet">{missing()}</span>}</Show>
          <button
            type="button"
            class="btn primary"
            disabled={setup.missing() !== null}
            onClick={start}
          >
            Start
          </button>
        </div>
      </div>
    </main>
  );
}
