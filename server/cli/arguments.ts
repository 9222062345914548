// The command line: argv and environment in, a command or a worded mistake out. Pure.

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { DEFAULT_PORT } from "../../shared/protocol/version.ts";
import { defaultConfigDir, defaultDataDir, type Surroundings, socketPath } from "./folders.ts";

const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Folders {
  readonly dataDir: string;
  readonly socketPath: string;
}

export interface ServeOptions extends Folders {
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  readonly configDir: string;
  readonly open: boolean;
  readonly logLevel: LogLevel;
  /** Null: standard error. */
  readonly logFile: string | null;
}

export type Command =
  | { kind: "serve"; options: ServeOptions }
  | { kind: "link"; options: Folders }
  | { kind: "help" }
  | { kind: "version" }
  | { kind: "mistake"; message: string };

/** Flag → the variable that is its default. One list for parsing, defaults and the help text. */
const FLAGS = {
  port: { variable: "TROUPE_PORT", value: "NUMBER", help: `port to listen on (${DEFAULT_PORT})` },
  host: { variable: "TROUPE_HOST", value: "NAME", help: "address to listen on (127.0.0.1)" },
  "data-dir": { variable: "TROUPE_DATA_DIR", value: "PATH", help: "sessions, devices, keys" },
  "config-dir": { variable: "TROUPE_CONFIG_DIR", value: "PATH", help: "settings" },
  "no-open": { variable: "TROUPE_NO_OPEN", value: null, help: "do not open a browser" },
  "log-level": { variable: "TROUPE_LOG_LEVEL", value: "LEVEL", help: LOG_LEVELS.join(", ") },
  "log-file": { variable: "TROUPE_LOG_FILE", value: "PATH", help: "instead of standard error" },
} as const;
type Flag = keyof typeof FLAGS;

class Mistake extends Error {}

export function parseCommand(argv: readonly string[], surroundings: Surroundings): Command {
  try {
    return commandOf(argv, surroundings);
  } catch (error) {
    if (error instanceof Mistake) return { kind: "mistake", message: error.message };
    throw error;
  }
}

function commandOf(argv: readonly string[], surroundings: Surroundings): Command {
  const { values, positionals } = parse(argv);
  if (values.help) return { kind: "help" };
  if (values.version) return { kind: "version" };
  const [name = "serve", ...rest] = positionals;
  if (rest.length > 0) throw new Mistake(`Unexpected argument "${rest[0]}".`);
  const text = (flag: Exclude<Flag, "no-open">): string | undefined => {
    // An empty flag is a shell variable that was not set, and the default is not what was meant.
    if (values[flag] === "") throw new Mistake(`--${flag} is empty.`);
    return values[flag] ?? (surroundings.env[FLAGS[flag].variable] || undefined);
  };
  const source = (flag: Exclude<Flag, "no-open">): string =>
    values[flag] === undefined ? FLAGS[flag].variable : `--${flag}`;
  const path = (flag: "data-dir" | "config-dir" | "log-file"): string | undefined => {
    const given = text(flag);
    return given === undefined ? undefined : resolve(surroundings.cwd, given);
  };
  const dataDir = path("data-dir") ?? defaultDataDir(surroundings);
  const folders = { dataDir, socketPath: socketPath(surroundings, dataDir) };
  if (name === "link") return { kind: "link", options: folders };
  if (name !== "serve") throw new Mistake(`Unknown command "${name}".`);
  const logFile = path("log-file") ?? null;
  return {
    kind: "serve",
    options: {
      ...folders,
      port: portOf(text("port"), source("port")),
      host: hostOf(text("host"), source("host")),
      configDir: path("config-dir") ?? defaultConfigDir(surroundings),
      open: !(values["no-open"] ?? isOn(surroundings.env.TROUPE_NO_OPEN)),
      logLevel:
        levelOf(text("log-level"), source("log-level")) ?? (logFile === null ? "warn" : "info"),
      logFile,
    },
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        port: { type: "string" },
        host: { type: "string" },
        "data-dir": { type: "string" },
        "config-dir": { type: "string" },
        "no-open": { type: "boolean" },
        "log-level": { type: "string" },
        "log-file": { type: "string" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
  } catch (error) {
    // parseArgs words its mistakes for people; the first sentence says what is wrong.
    const message = error instanceof Error ? error.message : String(error);
    throw new Mistake(`${message.split(". ")[0]?.replace(/\.$/, "")}.`);
  }
}

function portOf(text: string | undefined, source: string): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) {
    throw new Mistake(`${source} must be a number from 0 to 65535, not "${text}".`);
  }
  return port;
}

function hostOf(text: string | undefined, source: string): string {
  if (text === undefined) return "127.0.0.1";
  if (!/^[A-Za-z0-9.:_-]{1,253}$/.test(text)) {
    throw new Mistake(`${source} must be a name or an address, not "${text}".`);
  }
  return text.toLowerCase();
}

function levelOf(text: string | undefined, source: string): LogLevel | undefined {
  if (text === undefined) return undefined;
  const level = LOG_LEVELS.find((known) => known === text);
  if (level === undefined) {
    throw new Mistake(`${source} must be one of ${LOG_LEVELS.join(", ")}, not "${text}".`);
  }
  return level;
}

const isOn = (text: string | undefined): boolean =>
  text !== undefined && !["", "0", "false", "no"].includes(text.toLowerCase());

export function helpText(): string {
  const flags = Object.entries(FLAGS).map(([flag, { variable, value, help }]) => {
    const left = `  --${flag}${value === null ? "" : ` ${value}`}`;
    return `${left.padEnd(26)}${help.padEnd(40)}${variable}`;
  });
  return [
    "troupe: a local-first workbench for AI agents in a browser tab",
    "",
    "Usage:",
    "  troupe [serve] [flags]  start the daemon and open it in a browser",
    "  troupe link             print a fresh launch link of the running daemon",
    "",
    "Flags, and the variables that are their defaults:",
    ...flags,
    "  -h, --help              show this",
    "  -v, --version           show the version",
    "",
  ].join("\n");
}
