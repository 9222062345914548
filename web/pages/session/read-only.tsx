// In place of the composer, for those whom the session was shared with.

import { Show } from "solid-js";
import type { SessionId } from "../../../shared/ids.ts";
import type { RequestEntry } from "../../state/request-list.ts";
import { useWorkbench } from "../../state/workbench.ts";
import Queue from "./queue.tsx";

export default function ReadOnly(props: { sessionId: SessionId; queued: readonly RequestEntry[] }) {
  const workbench = useWorkbench();
  return (
    <div class="composer">
      <div class="column">
        <Show when={props.queued.length > 0}>
          <Queue sessionId={props.sessionId} queued={props.queued} />
        </Show>
        <p class="quiet">
          You can read this session.
          {workbench.daemonName() && ` It was shared from “${workbench.daemonName()}”.`}
        </p>
      </div>
    </div>
  );
}
