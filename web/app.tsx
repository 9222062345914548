// The page's composition below the entry: contexts around the routes.

import type { WorkersClient } from "../workers/client.ts";
import { Shell } from "./pages/frame/shell.tsx";
import { Routes } from "./routes.tsx";
import { type PageTools, PageToolsProvider } from "./state/page-tools.ts";
import { createWorkbench, WorkbenchProvider } from "./state/workbench.ts";

export function App(props: { client: WorkersClient; tools: PageTools }) {
  const workbench = createWorkbench(props.client);
  return (
    <WorkbenchProvider value={workbench}>
      <PageToolsProvider value={props.tools}>
        <Routes root={Shell} />
      </PageToolsProvider>
    </WorkbenchProvider>
  );
}
