// The route table. The session page is on the first screen; the rest is loaded when it is visited.

import { A, Route, Router, type RouteSectionProps } from "@solidjs/router";
import { type Component, createEffect } from "solid-js";
import { CenteredPage } from "./components/centered-page.tsx";
import { lazyPart } from "./components/lazy-part.tsx";
import { PartMissing } from "./pages/frame/part-missing.tsx";
import SessionPage from "./pages/session/index.tsx";

const HomePage = lazyPart(() => import("./pages/home/index.tsx"), PartMissing);
const DevicesPage = lazyPart(() => import("./pages/devices/index.tsx"), PartMissing);
const StoragePage = lazyPart(() => import("./pages/storage/index.tsx"), PartMissing);

function NotFoundPage() {
  createEffect(() => {
    document.title = "No such page · Troupe";
  });
  return (
    <CenteredPage title="There is no such page">
      <p class="muted under-lede">The address may be mistyped.</p>
      <A class="btn" href="/">
        Go to the sessions
      </A>
    </CenteredPage>
  );
}

export function Routes(props: { root: Component<RouteSectionProps> }) {
  return (
    <Router root={props.root} preload={false}>
      <Route path="/" component={HomePage} />
      <Route path="/s/:id" component={SessionPage} />
      <Route path="/settings/devices" component={DevicesPage} />
      <Route path="/settings/storage" component={StoragePage} />
      <Route path="*" component={NotFoundPage} />
    </Router>
  );
}
