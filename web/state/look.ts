// Says which session someone sees on this page: none while the page is hidden.

import { onCleanup } from "solid-js";
import type { SessionId } from "../../shared/ids.ts";
import type { WorkersClient } from "../../workers/client.ts";

/** Call under an owner, which ends it. */
export function createLook(client: Pick<WorkersClient, "look">, sessionId: SessionId): void {
  const say = () => client.look(document.visibilityState === "visible" ? sessionId : null);
  say();
  document.addEventListener("visibilitychange", say);
  onCleanup(() => {
    document.removeEventListener("visibilitychange", say);
    client.look(null);
  });
}
