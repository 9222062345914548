// A tool's output as it came: monospace, no markup, fetched when first shown.

import { createResource, Match, Switch } from "solid-js";
import { CopyButton } from "./copy-button.tsx";
import { drawable } from "./drawable.ts";

/** It scrolls, so the keyboard must be able to stand in it. */
const makeReachable = (pre: HTMLPreElement) => {
  pre.tabIndex = 0;
};

export function Output(props: { load: () => Promise<string>; failed: (error: unknown) => string }) {
  const [text] = createResource(props.load);
  return (
    <div class="output">
      <Switch>
        <Match when={text.error}>{(error) => <p class="quiet">{props.failed(error())}</p>}</Match>
        <Match when={text.loading}>
          <p class="quiet">Loading the output…</p>
        </Match>
        <Match when={text() === ""}>
          <p class="quiet">No output.</p>
        </Match>
        <Match when={text()}>
          {(loaded) => (
            <>
              <CopyButton label="Copy output" text={loaded} class="quiet-button corner" />
              <pre ref={makeReachable}>{drawable(loaded())}</pre>
            </>
          )}
        </Match>
      </Switch>
    </div>
  );
}
