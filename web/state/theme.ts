// The theme a person chose. `/theme.js` applies it before the first paint; this follows changes.

import { type Accessor, createSignal } from "solid-js";
import { assertNever } from "../../shared/assert-never.ts";
import type { Preferences } from "./preferences.ts";

const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

export interface ThemeChoice {
  readonly theme: Accessor<Theme>;
  /** System, light, dark, system… */
  turn(): void;
}

/** Matches while the system is dark. */
export interface SystemTheme {
  readonly matches: boolean;
  addEventListener(type: "change", listener: () => void): void;
}

const isTheme = (value: string | null): value is Theme => THEMES.some((theme) => theme === value);

function nextTheme(theme: Theme): Theme {
  switch (theme) {
    case "system":
      return "light";
    case "light":
      return "dark";
    case "dark":
      return "system";
    default:
      return assertNever(theme);
  }
}

/** `show` puts the theme in force on the page. Lives as long as the page. */
export function makeThemeChoice(
  preferences: Preferences,
  system: SystemTheme,
  show: (theme: "light" | "dark") => void,
): ThemeChoice {
  const stored = preferences.get("theme");
  const [theme, setTheme] = createSignal<Theme>(isTheme(stored) ? stored : "system");
  const apply = () => {
    const chosen = theme();
    show(chosen === "system" ? (system.matches ? "dark" : "light") : chosen);
  };
  system.addEventListener("change", apply);
  return {
    theme,
    turn() {
      setTheme(nextTheme(theme()));
      preferences.set("theme", theme());
      apply();
    },
  };
}
