import { describe, expect, it } from "vitest";
import { requestId, sessionId } from "../testing/rows.ts";
import { makePreferences } from "./preferences.ts";
import { makeReadingPlaces } from "./reading-places.ts";

function makeStorage(initial: Record<string, string> = {}) {
  const held = new Map(Object.entries(initial));
  return {
    held,
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, value: string) => void held.set(key, value),
  };
}

describe("makeReadingPlaces", () => {
  it("keeps a place per session and forgets it at the end", () => {
    const places = makeReadingPlaces(makePreferences(() => makeStorage()));
    places.keep(sessionId(1), { requestId: requestId(7), offset: -40 });
    expect(places.find(sessionId(1))).toEqual({ requestId: requestId(7), offset: -40 });
    expect(places.find(sessionId(2))).toBeNull();
    places.keep(sessionId(1), null);
    expect(places.find(sessionId(1))).toBeNull();
  });

  it("keeps the hundred last ones", () => {
    const storage = makeStorage();
    const places = makeReadingPlaces(makePreferences(() => storage));
    for (let n = 1; n <= 101; n++)
      places.keep(sessionId(n), { requestId: requestId(n), offset: 0 });
    expect(places.find(sessionId(1))).toBeNull();
    expect(places.find(sessionId(2))).not.toBeNull();
  });

  it.each(["{", "7", '[["a"]]', '[null, {"a": 1}]'])("knows no place from %s", (text) => {
    const storage = makeStorage({ "troupe.places": text });
    expect(makeReadingPlaces(makePreferences(() => storage)).find(sessionId(1))).toBeNull();
  });
});

it("a browser that forbids storage remembers as long as the page lives", () => {
  const preferences = makePreferences(() => {
    throw new DOMException("denied", "SecurityError");
  });
  preferences.set("theme", "dark");
  expect(preferences.get("theme")).toBe("dark");
  expect(preferences.get("other")).toBeNull();
});
