// Three questions to begin with, made for the folder they are about.

import type { Folder } from "../../shared/protocol/methods.ts";

type KnownFolder = Pick<Folder, "branch" | "folders">;

/** Where the substance of a project mostly is, the likeliest first. */
const TELLING = ["src", "packages", "lib", "app", "cmd", "docs", "test", "tests"];

/** A name that can stand in a sentence as it is. */
const isPlain = (name: string): boolean => /^[\w][\w.-]{0,30}$/.test(name);

function tellingFolder(folders: readonly string[]): string | null {
  const known = TELLING.find((name) => folders.includes(name));
  return known ?? folders.find(isPlain) ?? null;
}

/** Null: nothing is known of the folder. */
export function firstQuestions(folder: KnownFolder | null): readonly string[] {
  const inside = folder === null ? null : tellingFolder(folder.folders);
  const overview = folder?.branch ? "Explain this project" : "What is in this folder?";
  const second = folder?.branch ? "What is in this folder?" : "Explain this project";
  return [overview, inside === null ? second : `What is in ${inside}?`, "Find TODO"];
}
