// The title a session has until someone gives it one.

/** Until there is a prompt to take it from. */
export const UNTITLED = "New session";
const TITLE_FROM_PROMPT_MAX_CHARS = 60;

/** The prompt's first line with text, at most 60 characters, cut between words. */
export function titleFromPrompt(prompt: string): string {
  const line = (prompt.split("\n").find((each) => each.trim() !== "") ?? "").trim();
  const characters = [...line.replace(/\s+/g, " ")];
  if (characters.length <= TITLE_FROM_PROMPT_MAX_CHARS) return characters.join("");
  const kept = characters.slice(0, TITLE_FROM_PROMPT_MAX_CHARS - 1);
  // A boundary right behind what was kept needs no cut.
  const lastSpace = characters[kept.length] === " " ? kept.length : kept.lastIndexOf(" ");
  const words = lastSpace > 0 ? kept.slice(0, lastSpace) : kept;
  return `${words.join("").replace(/[\s,;:.–-]+$/, "")}…`;
}
