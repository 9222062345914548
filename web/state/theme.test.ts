import { expect, it } from "vitest";
import { makePreferences } from "./preferences.ts";
import { makeThemeChoice } from "./theme.ts";

function start(stored: string | null, isDark: boolean) {
  const preferences = makePreferences(() => {
    throw new Error("no storage");
  });
  if (stored !== null) preferences.set("theme", stored);
  const shown: string[] = [];
  const system = {
    matches: isDark,
    listeners: [] as (() => void)[],
    addEventListener: (_type: string, listener: () => void) => void system.listeners.push(listener),
  };
  const choice = makeThemeChoice(preferences, system, (theme) => shown.push(theme));
  return { choice, preferences, shown, system };
}

it("goes from the system's theme to light, dark and back, and remembers", () => {
  const { choice, preferences, shown } = start(null, true);
  expect(choice.theme()).toBe("system");
  for (const theme of ["light", "dark", "system"]) {
    choice.turn();
    expect(preferences.get("theme")).toBe(theme);
  }
  expect(shown).toEqual(["light", "dark", "dark"]);
});

it("follows the system only while nothing else was chosen", () => {
  const { choice, shown, system } = start("nonsense", false);
  system.matches = true;
  for (const follow of system.listeners) follow();
  choice.turn();
  for (const follow of system.listeners) follow();
  expect(shown).toEqual(["dark", "light", "light"]);
});
