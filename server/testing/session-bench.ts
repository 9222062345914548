// Sessions on a real store, with a scripted model and tools that a test sets free, called through
// the real dispatch.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { DeviceId, SessionId } from "../../shared/ids.ts";
import type { CommandMethod, Params, Result } from "../../shared/protocol/methods.ts";
import type { RequestRow, TurnRow } from "../../shared/protocol/rows.ts";
import { Shares } from "../feed/shares.ts";
import type { Dispatch } from "../methods/caller.ts";
import { createDispatch } from "../methods/dispatch.ts";
import { readBranch } from "../sessions/folder.ts";
import { createSessions, type Sessions } from "../sessions/sessions.ts";
import type { Store } from "../store/store.ts";
import type { Tool } from "../tools/tool.ts";
import type { Peer } from "../transport/connection.ts";
import type { FakeClock } from "./fake-clock.ts";
import { makeRecordingLiveSink, type RecordingLiveSink } from "./recording-live-sink.ts";
import { makeScriptedProvider, type ScriptedProvider } from "./scripted-provider.ts";
import { silentLog } from "./silent-log.ts";
import { makeTemporaryFolder, openTemporaryStore } from "./temporary-store.ts";

export const OWNER: Peer = {
  kind: "device",
  deviceId: "owner-device-0001" as DeviceId,
  role: "owner",
};

export interface SessionBench {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly live: RecordingLiveSink;
  readonly provider: ScriptedProvider;
  readonly sessions: Sessions;
  readonly dispatch: Dispatch;
  readonly folder: string;
  readonly storePath: string;
  /** Sends a command with a fresh id, or the given one. */
  send<M extends CommandMethod>(
    method: M,
    params: Params<M>,
    commandId?: string,
  ): Promise<Result<M>>;
  newSession(): Promise<SessionId>;
  request(sessionId: SessionId, requestId: string): Promise<RequestRow>;
  turn(sessionId: SessionId, turnId: number): Promise<TurnRow>;
  /** Resolves once nothing runs or waits in the session. */
  idle(sessionId: SessionId): Promise<void>;
}

let lastCommand = 0;
export const freshCommandId = (): string => {
  lastCommand += 1;
  return `command-${String(lastCommand).padStart(12, "0")}`;
};

export async function makeSessionBench(
  options: { tools?: readonly Tool[]; on?: { store: Store; clock: FakeClock; path: string } } = {},
): Promise<SessionBench> {
  const { store, clock, path } = options.on ?? (await openTemporaryStore());
  const folder = join(await makeTemporaryFolder(), "project");
  await mkdir(folder);
  const live = makeRecordingLiveSink();
  const provider = makeScriptedProvider();
  const sessions = createSessions(
    {
      store,
      live,
      providers: [provider],
      tools: options.tools ?? [],
      clock,
      log: silentLog,
      readBranch,
    },
    folder,
  );
  const dispatch = createDispatch({
    store,
    clock,
    sessions,
    providers: [provider],
    devices: { rename: async () => {}, revoke: async () => {}, afterRevoke: () => {} },
    shares: new Shares({ store, clock, log: silentLog }),
    daemon: {
      status: () => ({ version: "0", pid: 1, origin: "http://127.0.0.1:1", connections: 0 }),
      link: () => ({ url: "http://127.0.0.1:1/#enrol=x", expiresAt: 1 }),
    },
    home: folder,
  });
  const send = async <M extends CommandMethod>(
    method: M,
    params: Params<M>,
    commandId: string = freshCommandId(),
  ) => (await dispatch(OWNER, { method, params, commandId })) as Result<M>;
  const mustFind = <T>(found: T | null): T => {
    if (found === null) throw new Error("no such row");
    return found;
  };
  return {
    store,
    clock,
    live,
    provider,
    sessions,
    dispatch,
    folder,
    storePath: path,
    send,
    newSession: async () => (await send("session.create", { workingDir: folder })).sessionId,
    request: async (sessionId, id) => mustFind(await store.row("request", sessionId, id)).row,
    turn: async (sessionId, id) => mustFind(await store.row("turn", sessionId, String(id))).row,
    async idle(sessionId) {
      const isIdle = async () =>
        (await store.row("session", sessionId, sessionId))?.row.state !== "running";
      await until(store, isIdle);
    },
  };
}

/** Looks again after each commit, so nothing is waited for longer than it takes. */
export function until(store: Store, isTrue: () => Promise<boolean>): Promise<void> {
  return new Promise((resolve, reject) => {
    let isDone = false;
    const look = () => {
      isTrue().then((is) => {
        if (!is || isDone) return;
        isDone = true;
        forget();
        resolve();
      }, reject);
    };
    const forget = store.onCommit(look);
    look();
  });
}
