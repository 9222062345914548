// The page's composition below the entry: contexts around the routes.

import { createEffect, createMemo } from "solid-js";
import type { WorkersClient } from "../workers/client.ts";
import { Shell } from "./pages/frame/shell.tsx";
import { Routes } from "./routes.tsx";
import { type PageTools, PageToolsProvider } from "./state/page-tools.ts";
import { createWorkbench, WorkbenchProvider } from "./state/workbench.ts";

export function App(props: { client: WorkersClient; tools: PageTools }) {
  const workbench = createWorkbench(props.client);
  const isLive = createMemo(() => workbench.connection().kind === "live");
  // A daemon that was away may have come back as another version, with a page of its own.
  createEffect(() => {
    if (isLive()) props.tools.update.check();
  });
  return (
    <WorkbenchProvider value={workbench}>
      <PageToolsProvider value={props.tools}>
        <Routes root={Shell} />
      </PageToolsProvider>
    </WorkbenchProvider>
  );
}
