// What this device calls itself until a person renames it, e.g. "Chromium on Linux".

const BROWSERS: readonly [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS/, "Firefox"],
  [/Chromium\//, "Chromium"],
  [/Chrome\/|CriOS/, "Chrome"],
  [/Safari\//, "Safari"],
];

const SYSTEMS: readonly [RegExp, string][] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/CrOS/, "ChromeOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

export function nameDevice(userAgent: string): string {
  const find = (known: readonly [RegExp, string][], fallback: string) =>
    known.find(([pattern]) => pattern.test(userAgent))?.[1] ?? fallback;
  return `${find(BROWSERS, "Browser")} on ${find(SYSTEMS, "an unknown system")}`;
}
