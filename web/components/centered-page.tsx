// A page with one thing to say, in the middle of the window.

import type { JSX } from "solid-js";

export function CenteredPage(props: { title: string; children: JSX.Element }) {
  return (
    <main class="center sheet">
      <div class="narrow">
        <h1 class="lede">{props.title}</h1>
        {props.children}
      </div>
    </main>
  );
}
