#!/usr/bin/env node
// The program: reads the command line and does what it says. All that people read on the terminal is
// written here.

import { spawn } from "node:child_process";
import { homedir, tmpdir } from "node:os";
import { version } from "../package.json";
import { assertNever } from "../shared/assert-never.ts";
import {
  type Command,
  type Folders,
  helpText,
  parseCommand,
  type ServeOptions,
} from "./cli/arguments.ts";
import { type Attempt, explainFailure } from "./cli/explain-failure.ts";
import type { Surroundings } from "./cli/folders.ts";
import { isLoopback } from "./cli/host-names.ts";
import { openBrowser } from "./cli/open-browser.ts";
import { openLog } from "./cli/program-log.ts";
import { askForLink } from "./cli/running-daemon.ts";
import { StartError } from "./cli/start-error.ts";
import { stopOnSignals } from "./cli/stop-signals.ts";
import { systemClock } from "./clock.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { type Log, traceOf } from "./log.ts";

const EXIT_FAILED = 1;
const EXIT_MISUSED = 2;
/** A daemon that is just starting holds its folder before it answers. */
const STARTING_UP_MAX_MS = 3_000;
const ASK_AGAIN_MS = 100;

const say = (text: string): boolean => process.stdout.write(`${text}\n`);
const complain = (text: string): boolean => process.stderr.write(`troupe: ${text}\n`);

async function run(command: Command): Promise<void> {
  switch (command.kind) {
    case "help":
      say(helpText());
      return;
    case "version":
      say(`troupe ${version}`);
      return;
    case "mistake":
      complain(`${command.message} Try \`troupe --help\`.`);
      process.exitCode = EXIT_MISUSED;
      return;
    case "link":
      await printLink(command.options);
      return;
    case "serve":
      await serve(command.options);
      return;
    default:
      assertNever(command);
  }
}

async function printLink({ dataDir, socketPath }: Folders): Promise<void> {
  const link = await askForLink(socketPath, systemClock);
  if (link === null) {
    throw new StartError(
      "not_running",
      `No daemon is running on ${dataDir}. Start one with \`troupe\` or \`npm start\`.`,
    );
  }
  sayLink(link.url);
}

async function serve(options: ServeOptions): Promise<void> {
  const log = openLog(options.logLevel, options.logFile);
  if ((await openRunning(options)) === "opened") return;
  const daemon = await startDaemon({ ...options, version, clock: systemClock, log });
  if (daemon === null) {
    await joinStarting(options);
    return;
  }
  stopOnSignals({
    signals: process,
    clock: systemClock,
    stop: daemon.stop,
    exit: process.exit,
    onTrouble: (message, cause) => log.error({ trace: traceOf(cause) }, message),
  });
  giveUpOnBugs(daemon, log);
  log.info({ version, pid: process.pid, origin: daemon.origin }, "listening");
  if (!isLoopback(options.host)) {
    complain(
      `listening on ${options.host}: other machines on the network can reach this daemon. ` +
        "Only browsers let in through a launch link can use it.",
    );
  }
  show(daemon.link().url, options);
}

/** A daemon that already works on the data folder is opened instead of starting another. */
async function openRunning(options: ServeOptions): Promise<"opened" | "none"> {
  const link = await askForLink(options.socketPath, systemClock);
  if (link === null) return "none";
  show(link.url, options);
  return "opened";
}

async function joinStarting(options: ServeOptions): Promise<void> {
  const until = systemClock.now() + STARTING_UP_MAX_MS;
  while (systemClock.now() < until) {
    if ((await openRunning(options)) === "opened") return;
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
  }
  throw new StartError(
    "folder_in_use",
    `Another program holds ${options.dataDir} and does not answer on ${options.socketPath}. ` +
      "Stop it, or choose another folder with --data-dir PATH.",
  );
}

function show(url: string, { open }: ServeOptions): void {
  sayLink(url);
  if (!open) return;
  openBrowser(url, {
    platform: process.platform,
    env: process.env,
    launch(program, args, options) {
      const child = spawn(program, args, options);
      child.once("error", () => complain(`could not start ${program}: open the link yourself.`));
      child.unref();
    },
  });
}

function sayLink(url: string): void {
  say(`Open ${url}`);
  say("The link is good once, for 10 minutes. The same command, run again, prints another.");
}

/** After a bug the state in memory is not to be trusted; what was committed is. */
function giveUpOnBugs(daemon: Daemon, log: Log): void {
  const giveUp = (error: unknown): void => {
    log.error({ trace: traceOf(error) }, "stopped by a bug");
    complain("stopped by a bug; the log says where. Nothing that was saved is lost.");
    const exit = (): never => process.exit(EXIT_FAILED);
    daemon.abandon().then(exit, exit);
  };
  process.on("uncaughtException", giveUp);
  process.on("unhandledRejection", giveUp);
}

function surroundings(): Surroundings {
  return {
    env: process.env,
    homeDir: homedir(),
    tempDir: tmpdir(),
    uid: process.getuid?.() ?? -1,
    cwd: process.cwd(),
  };
}

/** What a failure's words are about. */
function attemptOf(command: Command): Attempt {
  if (command.kind === "serve") return command.options;
  return { host: "", port: 0, dataDir: command.kind === "link" ? command.options.dataDir : "" };
}

const command = parseCommand(process.argv.slice(2), surroundings());
run(command).catch((error: unknown) => {
  const words = explainFailure(error, attemptOf(command));
  complain(words ?? `a bug: ${error instanceof Error ? error.stack : String(error)}`);
  process.exit(EXIT_FAILED);
});
