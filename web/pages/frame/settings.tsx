// A page of the settings: the way back, the other pages, and its own content.

import { A } from "@solidjs/router";
import ArrowLeft from "lucide-solid/icons/arrow-left";
import { createEffect, For, type JSX } from "solid-js";
import { useWorkbench } from "../../state/workbench.ts";

const PAGES = [
  { href: "/settings/devices", name: "Devices", title: "Devices", isForViewers: false },
  {
    href: "/settings/storage",
    name: "Storage",
    title: "What this browser keeps",
    isForViewers: true,
  },
] as const;

export function Settings(props: { title: (typeof PAGES)[number]["title"]; children: JSX.Element }) {
  const workbench = useWorkbench();
  const pages = () => PAGES.filter(({ isForViewers }) => isForViewers || !workbench.isViewer());
  createEffect(() => {
    document.title = `${props.title} · Troupe`;
  });
  return (
    <div class="settings">
      <nav aria-label="Settings">
        <A class="back" href="/">
          <ArrowLeft size={14} aria-hidden="true" /> Sessions
        </A>
        <For each={pages()}>
          {({ href, name, title }) => (
            <A href={href} aria-current={title === props.title ? "page" : undefined}>
              {name}
            </A>
          )}
        </For>
      </nav>
      <main>
        <h1>{props.title}</h1>
        {props.children}
      </main>
    </div>
  );
}
