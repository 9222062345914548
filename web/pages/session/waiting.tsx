// A request runs and nothing of it moves on screen: what it does, and for how long.

import { Show } from "solid-js";
import { Dot } from "../../components/dot.tsx";
import { createNow } from "../../state/now.ts";
import { elapsed } from "../../state/times.ts";
import { useWorkbench } from "../../state/workbench.ts";

const TICK_MS = 1_000;
/** A shorter wait needs no figure. */
const COUNTED_MIN_MS = 2_000;

export function Waiting(props: { doing: string | null; since: number }) {
  const now = createNow(TICK_MS);
  const { isCutOff } = useWorkbench();
  const waited = () => now() - props.since;
  return (
    <p class="quiet waiting-line">
      <Dot kind="live" />
      <Show when={!isCutOff()} fallback="Was working when the connection was lost">
        {props.doing ?? "Working"}
        <Show when={waited() >= COUNTED_MIN_MS}>
          <span>{elapsed(waited())}</span>
        </Show>
      </Show>
    </p>
  );
}
