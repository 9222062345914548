// Runs the ripgrep binary that ships with the daemon and hands over its output record by record.

import { spawn } from "node:child_process";
import { whenStopped } from "./when-stopped.ts";

/** Hidden files count, version control's own do not; ignore files are honoured in any folder. */
const ALWAYS = ["--no-config", "--hidden", "--no-require-git", "--color=never"];
/** Given last, so that no glob of a caller brings them back. */
const NEVER = ["--glob=!**/.git", "--glob=!**/.hg", "--glob=!**/.svn", "--glob=!**/.jj"];
const RECORD_MAX_BYTES = 4 * 1024 * 1024;
const STDERR_MAX_BYTES = 8 * 1024;

export interface RipgrepRun {
  readonly args: readonly string[];
  /** What to search; absolute or relative to `cwd`. Nothing: `cwd`. */
  readonly paths: readonly string[];
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** What ends a record; a line end unless told otherwise. */
  readonly separator?: "\n" | "\0";
  /** Return false to have seen enough: the process is killed. */
  readonly onRecord: (record: Buffer) => boolean;
}

export interface RipgrepEnd {
  /** 0 found, 1 found nothing, 2 some or all failed; null: killed or never started. */
  readonly exitCode: number | null;
  readonly stderr: string;
  /** Records over 4 MiB, left out. */
  readonly tooLong: number;
  readonly startError: string | null;
}

export async function runRipgrep(run: RipgrepRun): Promise<RipgrepEnd> {
  let program: string;
  try {
    program = (await import("@vscode/ripgrep")).rgPath;
  } catch (error) {
    return { exitCode: null, stderr: "", tooLong: 0, startError: String(error) };
  }
  if (run.signal.aborted) return { exitCode: null, stderr: "", tooLong: 0, startError: null };
  const child = spawn(program, [...ALWAYS, ...run.args, ...NEVER, "--", ...run.paths], {
    cwd: run.cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = () => child.kill("SIGKILL");
  const forget = whenStopped(run.signal, kill);
  const records = makeSplitter(run.separator === "\0" ? 0 : 0x0a, run.onRecord);
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    if (!records.push(chunk)) kill();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < STDERR_MAX_BYTES) stderr += chunk.toString("utf8");
  });
  return new Promise((resolve) => {
    const end = (exitCode: number | null, startError: string | null) => {
      forget();
      records.end();
      resolve({
        exitCode,
        stderr: stderr.slice(0, STDERR_MAX_BYTES),
        tooLong: records.tooLong(),
        startError,
      });
    };
    child.once("error", (error) => end(null, error.message));
    child.once("close", (code) => end(code, null));
  });
}

function makeSplitter(separator: number, onRecord: (record: Buffer) => boolean) {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let isWanted = true;
  let skipping = false;
  let tooLong = 0;

  const take = (piece: Buffer) => {
    if (skipping) return;
    if (heldBytes + piece.length > RECORD_MAX_BYTES) {
      skipping = true;
      tooLong += 1;
      held = [];
      heldBytes = 0;
      return;
    }
    held.push(piece);
    heldBytes += piece.length;
  };
  const finish = () => {
    if (!skipping && isWanted) {
      const [only] = held;
      isWanted = onRecord(held.length === 1 && only ? only : Buffer.concat(held));
    }
    held = [];
    heldBytes = 0;
    skipping = false;
  };

  return {
    /** False once no more is wanted. */
    push(chunk: Buffer): boolean {
      let from = 0;
      for (let at = chunk.indexOf(separator); at >= 0 && isWanted; ) {
        take(chunk.subarray(from, at));
        finish();
        from = at + 1;
        at = chunk.indexOf(separator, from);
      }
      if (isWanted && from < chunk.length) take(chunk.subarray(from));
      return isWanted;
    },
    end() {
      if (isWanted && heldBytes > 0) finish();
    },
    tooLong: () => tooLong,
  };
}
