// All sessions: what the methods call. Hands each command to the session it is about, which exists
// only while something runs or waits in it; the truth is in the store.

import type { RequestId, SessionId } from "../../shared/ids.ts";
import { UNTITLED } from "../../shared/model/title.ts";
import { NO_USAGE } from "../../shared/model/usage.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import type { CommandMethod, Params, Result } from "../../shared/protocol/methods.ts";
import type { SessionRow } from "../../shared/protocol/rows.ts";
import { cleanText } from "../../shared/sanitize/clean-text.ts";
import { traceOf } from "../log.ts";
import { findModel, listModels } from "../providers/find-model.ts";
import {
  addRequest,
  cancelQueued,
  checkPrompt,
  redoFirst,
  requireContinuable,
  requireRequest,
  undoLast,
} from "./changes.ts";
import type { Command, Settled } from "./command.ts";
import type { SessionDeps } from "./deps.ts";
import { resolveFolder, shownFolder } from "./folder.ts";
import { INTERRUPTED, interruptLeftovers } from "./repair.ts";
import { Session } from "./session.ts";

type CommandNoun = Extract<CommandMethod, `session.${string}`>;
type Handle<M extends CommandNoun> = (
  params: Params<M>,
  command: Command,
) => Promise<Settled<Result<M>>>;

export interface Sessions {
  readonly create: Handle<"session.create">;
  readonly rename: Handle<"session.rename">;
  readonly pin: Handle<"session.pin">;
  readonly archive: Handle<"session.archive">;
  readonly remove: Handle<"session.delete">;
  readonly prompt: Handle<"session.prompt">;
  readonly stop: Handle<"session.stop">;
  readonly resume: Handle<"session.continue">;
  readonly undo: Handle<"session.undo">;
  readonly redo: Handle<"session.redo">;
  /** Ends what a dead daemon left running and lets queued requests run. Call once, before any command. */
  start(): Promise<void>;
  /** Ends what runs as interrupted, text kept; begins nothing more. Resolves once all is recorded. */
  close(): Promise<void>;
}

export function createSessions(deps: SessionDeps, home: string): Sessions {
  const live = new Map<SessionId, Session>();
  let isStopping = false;
  const host = {
    isStopping: () => isStopping,
    idle(session: Session) {
      if (live.get(session.id) === session) live.delete(session.id);
    },
  };
  const sessionOf = (id: SessionId): Session => {
    const session = live.get(id) ?? new Session(id, deps, host);
    live.set(id, session);
    return session;
  };
  return {
    create: (params, command) => createSession({ deps, home }, params, command),
    ...rowCommands(sessionOf, deps),
    ...requestCommands(sessionOf, deps, () => isStopping),
    start: () => repairAll(sessionOf, deps),
    async close() {
      isStopping = true;
      await interruptAll([...live.values()], deps);
    },
  };
}

type SessionOf = (id: SessionId) => Session;

/** Commands that change no more than the session itself. */
function rowCommands(sessionOf: SessionOf, { clock }: SessionDeps) {
  const edit = (
    sessionId: SessionId,
    command: Command,
    change: (session: SessionRow) => Partial<SessionRow>,
  ) =>
    sessionOf(sessionId).change(async (tx, facts) => {
      facts.session = { ...facts.session, ...change(facts.session) };
      return command.settle(tx, {});
    });
  return {
    rename: ({ sessionId, title }, command) =>
      edit(sessionId, command, () => ({
        title: titleOf(title),
        titled: true,
        modifiedAt: clock.now(),
      })),
    pin: ({ sessionId, pinned }, command) => edit(sessionId, command, () => ({ pinned })),
    archive: ({ sessionId, archived }, command) =>
      edit(sessionId, command, ({ archivedAt }) => ({
        archivedAt: archived ? (archivedAt ?? clock.now()) : null,
      })),
    remove: ({ sessionId }, command) => sessionOf(sessionId).remove((tx) => command.settle(tx, {})),
  } satisfies Partial<Sessions>;
}

/** Commands about what runs in a session. */
function requestCommands(sessionOf: SessionOf, deps: SessionDeps, isStopping: () => boolean) {
  const { clock, store } = deps;
  const add = async (
    sessionId: SessionId,
    command: Command,
    prompt: { kind: "prompt" | "continue"; text: string },
  ) => {
    if (isStopping()) {
      throw new Failure("shutting_down", "The daemon is shutting down.", { retryable: true });
    }
    const stored = await store.row("session", sessionId, sessionId);
    const branch = stored && (await deps.readBranch(stored.row.workingDir));
    const { commandId, deviceId: sentBy } = command;
    return sessionOf(sessionId).change(async (tx, facts) => {
      if (prompt.kind === "continue") requireContinuable(facts);
      facts.session = { ...facts.session, branch };
      const request = { commandId, sentBy, now: clock.now(), ...prompt };
      return command.settle(tx, await addRequest(tx, facts, request));
    });
  };
  return {
    async prompt({ sessionId, text }, command) {
      checkPrompt(text);
      return add(sessionId, command, { kind: "prompt", text });
    },
    resume: ({ sessionId }, command) => add(sessionId, command, { kind: "continue", text: "" }),
    stop: ({ sessionId, requestId }, command) => {
      let running: RequestId[] = [];
      return sessionOf(sessionId).endAndChange(
        (run) => {
          const isMeant = requestId === undefined || requestId === run.requestId;
          if (isMeant) running = [run.requestId];
          return isMeant;
        },
        { state: "cancelled" },
        async (tx, facts) => {
          if (requestId !== undefined) requireRequest(facts, requestId);
          const queued = await cancelQueued(tx, facts, { only: requestId, now: clock.now() });
          return command.settle(tx, { requestIds: [...running, ...queued] });
        },
      );
    },
    undo: ({ sessionId }, command) =>
      sessionOf(sessionId).change(async (tx, facts) =>
        command.settle(tx, { requestIds: await undoLast(tx, facts) }),
      ),
    redo: ({ sessionId }, command) =>
      sessionOf(sessionId).change(async (tx, facts) =>
        command.settle(tx, { requestIds: await redoFirst(tx, facts) }),
      ),
  } satisfies Partial<Sessions>;
}

/** A session that cannot be repaired stays as it is and keeps none of the others waiting. */
async function repairAll(sessionOf: SessionOf, { clock, log, store }: SessionDeps): Promise<void> {
  const rows = await store.rows("session");
  const saved = await store.savedStreams();
  for (const { id, row } of rows) {
    if (row.state !== "running") continue;
    await sessionOf(sessionIdOf(id))
      .change((tx, facts) => interruptLeftovers(tx, facts, { saved, now: clock.now() }))
      .catch((error: unknown) =>
        log.error({ trace: traceOf(error), sessionId: id }, "a session could not be repaired"),
      );
  }
}

async function interruptAll(sessions: readonly Session[], { log }: SessionDeps): Promise<void> {
  const end = { state: "interrupted", error: INTERRUPTED } as const;
  const always = () => true;
  const ends = sessions.map((session) => session.endAndChange(always, end, async () => {}));
  for (const outcome of await Promise.allSettled(ends)) {
    if (outcome.status === "fulfilled") continue;
    const { reason } = outcome;
    if (reason instanceof Failure && reason.wire.code === "session_gone") continue;
    log.error({ trace: traceOf(reason) }, "a session was not ended cleanly");
  }
}

async function createSession(
  { deps, home }: { deps: SessionDeps; home: string },
  params: Params<"session.create">,
  command: Command,
): Promise<Settled<Result<"session.create">>> {
  const { clock, providers, store } = deps;
  const workingDir = await resolveFolder(params.workingDir, home);
  const model = params.model ?? (await listModels(providers))[0]?.id ?? "";
  if ((await findModel(providers, model)) === null) {
    throw new Failure("model_unknown", `No provider serves the model ${cleanText(model)}.`, {
      details: { model },
    });
  }
  const branch = await deps.readBranch(workingDir);
  const sessionId = sessionIdOf(command.commandId);
  const { value } = await store.write(async (tx) => {
    const now = clock.now();
    await tx.put("session", sessionId, sessionId, {
      title: params.title === undefined ? UNTITLED : titleOf(params.title),
      titled: params.title !== undefined,
      workingDir,
      shownDir: shownFolder(workingDir, home),
      branch,
      model,
      account: null,
      parentId: null,
      pinned: false,
      archivedAt: null,
      createdAt: now,
      modifiedAt: now,
      state: "idle",
      toolGroups: ["core"],
      turnCount: 0,
      usage: NO_USAGE,
    });
    return command.settle(tx, { sessionId });
  });
  return value;
}

/** One line, and never nothing. */
const titleOf = (written: string): string =>
  cleanText(written).replace(/\s+/g, " ").trim() || UNTITLED;

/** A session has the id of the command that made it, and its row that id (shared/ids.ts, rows.ts). */
const sessionIdOf = (id: string): SessionId => id as SessionId;
