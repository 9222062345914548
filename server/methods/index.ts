// Every method there is, in one table; one that is missing does not compile.

import type { Clock } from "../clock.ts";
import type { Provider } from "../providers/provider.ts";
import type { Sessions } from "../sessions/sessions.ts";
import type { Store } from "../store/store.ts";
import { blobMethods } from "./blob.ts";
import { type DaemonFacts, daemonMethods } from "./daemon.ts";
import { type Devices, deviceMethods } from "./device.ts";
import type { MethodTable } from "./entry.ts";
import { folderMethods } from "./folder.ts";
import { modelMethods } from "./model.ts";
import { sessionMethods } from "./session.ts";
import { type Shares, shareMethods } from "./share.ts";

export interface MethodDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly devices: Devices;
  readonly shares: Shares;
  readonly providers: readonly Provider[];
  readonly daemon: DaemonFacts;
  /** The user's home folder, absolute. */
  readonly home: string;
}

export const makeMethodTable = (deps: MethodDeps) =>
  ({
    ...sessionMethods(deps.sessions),
    ...shareMethods(deps.store, deps.shares),
    ...deviceMethods(deps.store, deps.devices),
    ...folderMethods(deps.clock, deps.home),
    ...modelMethods(deps.providers),
    ...blobMethods(deps.store),
    ...daemonMethods(deps.daemon),
  }) satisfies MethodTable;
