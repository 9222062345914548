// Where a person was reading in each session, so that coming back finds the same line.

import type { SessionId } from "../../shared/ids.ts";
import type { Preferences } from "./preferences.ts";

/** The request at the top of the view and how far its own top lies above it, in pixels. */
export interface ReadingPlace {
  readonly requestId: string;
  readonly offset: number;
}

export interface ReadingPlaces {
  /** Null: at the end. */
  find(sessionId: SessionId): ReadingPlace | null;
  keep(sessionId: SessionId, place: ReadingPlace | null): void;
}

const KEPT_MAX = 100;

function parse(text: string | null): [string, string, number][] {
  if (text === null) return [];
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter(isEntry) : [];
  } catch {
    // Not ours or damaged: no place is known.
    return [];
  }
}

function isEntry(value: unknown): value is [string, string, number] {
  return (
    Array.isArray(value) &&
    typeof value[0] === "string" &&
    typeof value[1] === "string" &&
    typeof value[2] === "number"
  );
}

export function makeReadingPlaces(preferences: Preferences): ReadingPlaces {
  return {
    find(sessionId) {
      const entry = parse(preferences.get("places")).find(([id]) => id === sessionId);
      return entry ? { requestId: entry[1], offset: entry[2] } : null;
    },
    keep(sessionId, place) {
      const others = parse(preferences.get("places")).filter(([id]) => id !== sessionId);
      const entries: [string, string, number][] = place
        ? [[sessionId, place.requestId, place.offset], ...others]
        : others;
      preferences.set("places", JSON.stringify(entries.slice(0, KEPT_MAX)));
    },
  };
}
