// A tool's output as it came: monospace, no markup, fetched when first shown.

import { createResource, type JSX, Match, onCleanup, Switch } from "solid-js";
import { CopyButton } from "./copy-button.tsx";
import { drawable } from "./drawable.ts";
import { makeScrollStops } from "./scroll-stops.ts";

export function Output(props: {
  load: () => Promise<string>;
  failed: (error: unknown) => JSX.Element;
  /** A message rather than lines: it wraps. */
  isMessage: boolean;
}) {
  const [text] = createResource(props.load);
  let box: HTMLDivElement | undefined;
  const stops = makeScrollStops();
  onCleanup(stops.dispose);
  const watch = () => box && stops.watch(box);
  return (
    <div ref={box} class="output" classList={{ message: props.isMessage }}>
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
              <pre ref={() => queueMicrotask(watch)}>{drawable(loaded())}</pre>
              <CopyButton label="Copy output" text={loaded} />
            </>
          )}
        </Match>
      </Switch>
    </div>
  );
}
