// Lets a finished text come as a stream: a word or a few at a time, and never for longer than about
// three seconds however long it is.

import type { Clock } from "../../clock.ts";

const CHUNK_DELAY_MS = 10;
const CHUNKS_MAX = 250;

/** Pieces that end behind white space where they can, never inside a surrogate pair. */
export function piecesOf(text: string): string[] {
  const least = Math.ceil(text.length / CHUNKS_MAX);
  const pieces: string[] = [];
  let held = "";
  for (const word of text.match(/\S+\s*|\s+/g) ?? []) {
    held += word;
    if (held.length < least) continue;
    pieces.push(...split(held, Math.max(least * 4, 64)));
    held = "";
  }
  if (held !== "") pieces.push(held);
  return pieces;
}

/** Words without end are cut. */
function split(text: string, most: number): string[] {
  if (text.length <= most) return [text];
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + most);
    const last = text.charCodeAt(to - 1);
    if (to < text.length && last >= 0xd800 && last <= 0xdbff) to += 1;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

export async function* paced(
  text: string,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<string> {
  for (const piece of piecesOf(text)) {
    await pause(clock, signal);
    if (signal.aborted) return;
    yield piece;
  }
}

const pause = (clock: Clock, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const finish = () => {
      callOff();
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const callOff = clock.after(CHUNK_DELAY_MS, finish);
    signal.addEventListener("abort", finish);
  });
