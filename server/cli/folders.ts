// Where things live: the XDG folders and what is derived from them. Pure; nothing is created here.

import { createHash } from "node:crypto";
import { join } from "node:path";

/** What the operating system says about the user, as far as folders depend on it. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly tempDir: string;
  /** -1 where there are no user ids. */
  readonly uid: number;
  readonly cwd: string;
}

/** sun_path holds 108 bytes and ends in a zero. */
const SOCKET_PATH_MAX_BYTES = 107;

/** The XDG specification: a relative path in one of its variables is to be ignored. */
function xdg(surroundings: Surroundings, name: string, fallback: string): string {
  const value = surroundings.env[name];
  return value?.startsWith("/") ? value : join(surroundings.homeDir, fallback);
}

export const defaultDataDir = (surroundings: Surroundings): string =>
  join(xdg(surroundings, "XDG_DATA_HOME", ".local/share"), "troupe");

export const defaultConfigDir = (surroundings: Surroundings): string =>
  join(xdg(surroundings, "XDG_CONFIG_HOME", ".config"), "troupe");

/**
 * The Unix socket of the daemon that owns `dataDir`: two data folders have two daemons. Falls back to
 * the temporary folder where the usual place makes the path too long for a socket.
 */
export function socketPath(surroundings: Surroundings, dataDir: string): string {
  const name = `${createHash("sha256").update(dataDir).digest("hex").slice(0, 16)}.sock`;
  const runtimeDir = surroundings.env.XDG_RUNTIME_DIR;
  const usual = runtimeDir?.startsWith("/")
    ? join(runtimeDir, "troupe", name)
    : join(xdg(surroundings, "XDG_STATE_HOME", ".local/state"), "troupe", name);
  if (Buffer.byteLength(usual) <= SOCKET_PATH_MAX_BYTES) return usual;
  const user = surroundings.uid < 0 ? "user" : String(surroundings.uid);
  return join(surroundings.tempDir, `troupe-${user}`, name);
}
