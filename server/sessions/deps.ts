// What the sessions need of the rest of the daemon.

import type { Clock } from "../clock.ts";
import type { LiveSink } from "../feed/live-sink.ts";
import type { Log } from "../log.ts";
import type { Provider } from "../providers/provider.ts";
import type { Store } from "../store/store.ts";
import type { Tool } from "../tools/tool.ts";

export interface SessionDeps {
  readonly store: Store;
  readonly live: LiveSink;
  readonly providers: readonly Provider[];
  readonly tools: readonly Tool[];
  readonly clock: Clock;
  readonly log: Log;
  readonly readBranch: (folder: string) => Promise<string | null>;
}
