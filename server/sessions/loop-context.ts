// What the parts of one run of the loop share.

import type { Tool } from "../tools/tool.ts";
import type { SessionDeps } from "./deps.ts";
import type { RunPort } from "./run.ts";
import type { StreamSaver } from "./stream-saver.ts";

export interface LoopContext {
  readonly deps: SessionDeps;
  readonly port: RunPort;
  readonly saver: StreamSaver;
  /** Those of the groups that the session has loaded. */
  readonly tools: readonly Tool[];
}
