// Opens a link in the user's browser, if there is a screen to open it on.

import type { SpawnOptions } from "node:child_process";

export interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Starts a program and forgets it; a program that is missing is not an error. */
  readonly launch: (program: string, args: readonly string[], options: SpawnOptions) => void;
}

/** True if something was started. The link itself is printed anyway. */
export function openBrowser(url: string, desktop: Desktop): boolean {
  const opener = openerFor(url, desktop);
  if (opener === null) return false;
  desktop.launch(opener.program, opener.args, { detached: true, stdio: "ignore" });
  return true;
}

function openerFor(
  url: string,
  { platform, env }: Desktop,
): { program: string; args: string[] } | null {
  switch (platform) {
    case "darwin":
      return { program: "open", args: [url] };
    case "win32":
      // The empty string is start's window title.
      return { program: "cmd", args: ["/c", "start", "", url] };
    default:
      return env.DISPLAY || env.WAYLAND_DISPLAY ? { program: "xdg-open", args: [url] } : null;
  }
}
