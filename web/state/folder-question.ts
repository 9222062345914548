// Asking the daemon about a folder while its path is typed: what it is, and how the path could go on.

import { type Accessor, createEffect, createSignal, on, onCleanup } from "solid-js";
import { Failure } from "../../shared/protocol/errors.ts";
import type { Folder } from "../../shared/protocol/methods.ts";
import type { WorkersClient } from "../../workers/client.ts";
import { problemWords } from "./error-words.ts";
import { counted } from "./times.ts";

export interface FolderAnswer {
  /** The text that was asked about. */
  readonly asked: string;
  /** Null while there is no folder at the path. */
  readonly folder: Folder | null;
  readonly problem: string | null;
  /** Not a fault of the path: nobody could be asked about it. */
  readonly isUnknown: boolean;
  /** Whole paths that the text may be completed to. */
  readonly completions: readonly string[];
}

type AskFolder = (path: string | undefined) => Promise<Folder>;

const COMPLETIONS_MAX = 12;
const TYPING_PAUSE_MS = 150;

/** "git · main · 1,204 files". */
export function folderFacts(folder: Folder): string {
  const facts = folder.branch === null ? [] : ["git", folder.branch];
  if (folder.fileCount !== null) facts.push(counted(folder.fileCount, "file"));
  return facts.join(" · ");
}

/** The folder above the name being typed, with its slash, and that name. */
function splitPath(text: string): [parent: string, name: string] {
  const cut = text.lastIndexOf("/") + 1;
  return [text.slice(0, cut), text.slice(cut)];
}

function completionsOf(parent: string, folders: readonly string[], typed: string): string[] {
  const start = typed.toLowerCase();
  return folders
    .filter((name) => name.toLowerCase().startsWith(start))
    .filter((name) => typed.startsWith(".") || !name.startsWith("."))
    .slice(0, COMPLETIONS_MAX)
    .map((name) => parent + name);
}

const isOffline = (error: unknown): boolean =>
  error instanceof Failure && error.wire.code === "not_connected";

/** Never rejects: what went wrong is part of the answer. */
export async function askFolder(ask: AskFolder, text: string): Promise<FolderAnswer> {
  const path = text.trim();
  const [parent, name] = splitPath(path);
  try {
    const folder = await ask(path === "" ? undefined : path);
    // A path that stands for itself needs no list over what comes next; a slash asks for one.
    const completions = path.endsWith("/") ? completionsOf(path, folder.folders, "") : [];
    return { asked: text, folder, problem: null, isUnknown: false, completions };
  } catch (error) {
    const isUnknown = isOffline(error);
    return {
      asked: text,
      folder: null,
      problem: isUnknown ? null : problemWords(error),
      isUnknown,
      completions: await siblings(ask, parent, name),
    };
  }
}

async function siblings(ask: AskFolder, parent: string, name: string): Promise<string[]> {
  if (parent === "") return [];
  try {
    const above = await ask(parent);
    return completionsOf(parent, above.folders, name);
  } catch {
    // The problem is told by the path itself; without its parent there is nothing to complete.
    return [];
  }
}

/** Asks a moment after the last keystroke; a late answer to an earlier text is dropped. */
export function createFolderQuestion(
  client: Pick<WorkersClient, "query">,
  text: Accessor<string>,
): Accessor<FolderAnswer | null> {
  const [answer, setAnswer] = createSignal<FolderAnswer | null>(null);
  const ask: AskFolder = (path) =>
    client.query("folder.describe", path === undefined ? {} : { path });
  createEffect(
    on(text, (asked) => {
      let isCurrent = true;
      const timer = setTimeout(async () => {
        const found = await askFolder(ask, asked);
        if (isCurrent) setAnswer(found);
      }, TYPING_PAUSE_MS);
      onCleanup(() => {
        isCurrent = false;
        clearTimeout(timer);
      });
    }),
  );
  return answer;
}
