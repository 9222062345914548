// What it takes to start a session: a folder, a model, a first question; and starting it.

import { type Accessor, createEffect, createMemo, createSignal } from "solid-js";
import type { SessionId } from "../../shared/ids.ts";
import type { Model } from "../../shared/protocol/methods.ts";
import { createFolderQuestion, type FolderAnswer } from "./folder-question.ts";
import type { Workbench } from "./workbench.ts";

export interface SessionSetup {
  readonly path: Accessor<string>;
  setPath(path: string): void;
  readonly folder: Accessor<FolderAnswer | null>;
  readonly models: Accessor<readonly Model[]>;
  readonly model: Accessor<string | null>;
  setModel(id: string): void;
  readonly question: Accessor<string>;
  setQuestion(text: string): void;
  /** Null when it can start, else what is missing. */
  readonly missing: Accessor<string | null>;
  /** Creates the session, asks the first question if there is one, and returns the session's id. */
  start(): SessionId;
}

/** Models are asked for again whenever the connection comes back. */
function createModels(workbench: Workbench) {
  const [answer, setAnswer] = createSignal<{ models: Model[]; preferred: string } | null>(null);
  createEffect(() => {
    if (workbench.connection().kind !== "live") return;
    workbench.client.query("model.list", {}).then(setAnswer, () => {
      // The daemon chooses its preferred model when none is named.
      setAnswer(null);
    });
  });
  return answer;
}

export function createSessionSetup(workbench: Workbench): SessionSetup {
  const latest = workbench.sessions()[0]?.shownDir;
  const [typed, setPath] = createSignal(latest ?? "");
  const isLive = createMemo(() => workbench.connection().kind === "live");
  // Asked again on reconnecting: without a daemon there was no answer.
  const asked = createMemo(() => ({ path: typed(), isLive: isLive() }));
  const folder = createFolderQuestion(workbench.client, () => asked().path);
  const list = createModels(workbench);
  const [chosen, setModel] = createSignal<string | null>(null);
  const [question, setQuestion] = createSignal("");
  const model = () => chosen() ?? list()?.preferred ?? null;
  // An answer about what was typed a moment ago says nothing about what is typed now.
  const current = () => (folder()?.asked === typed() ? folder() : null);
  const missing = () => {
    if (typed().trim() === "" && !current()?.folder) return "Choose a folder first";
    return current()?.problem && isLive() ? "Choose a folder that exists" : null;
  };
  return {
    path: typed,
    setPath,
    folder,
    models: () => list()?.models ?? [],
    model,
    setModel,
    question,
    setQuestion,
    missing,
    start() {
      const workingDir = current()?.folder?.path ?? typed().trim();
      const named = model();
      const sessionId = workbench.run("session.create", {
        workingDir,
        ...(named === null ? {} : { model: named }),
      }) as SessionId;
      const text = question().trim();
      if (text !== "") workbench.run("session.prompt", { sessionId, text });
      return sessionId;
    },
  };
}
