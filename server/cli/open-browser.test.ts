import { describe, expect, it } from "vitest";
import { openBrowser } from "./open-browser.ts";

const URL_TO_OPEN = "http://127.0.0.1:4780/#enrol=x";

function launched(platform: NodeJS.Platform, env: Record<string, string>): string[][] {
  const launches: string[][] = [];
  const launch = (program: string, args: readonly string[]) => launches.push([program, ...args]);
  const opened = openBrowser(URL_TO_OPEN, { platform, env, launch });
  expect(opened).toBe(launches.length > 0);
  return launches;
}

describe("opening a browser", () => {
  it("uses each platform's own opener", () => {
    expect(launched("linux", { DISPLAY: ":0" })).toEqual([["xdg-open", URL_TO_OPEN]]);
    expect(launched("linux", { WAYLAND_DISPLAY: "wayland-0" })).toHaveLength(1);
    expect(launched("darwin", {})).toEqual([["open", URL_TO_OPEN]]);
    expect(launched("win32", {})).toEqual([["cmd", "/c", "start", "", URL_TO_OPEN]]);
  });

  it("starts nothing where there is no display", () => {
    expect(launched("linux", {})).toEqual([]);
  });
});
