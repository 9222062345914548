// Saves a stream's text once in STREAM_SAVE_MS while it grows (F8).

import { STREAM_SAVE_MS } from "../../shared/limits.ts";
import { traceOf } from "../log.ts";
import { StoreError } from "../store/store.ts";
import type { SessionDeps } from "./deps.ts";
import { RunClosed } from "./run.ts";

export interface StreamSaver {
  changed(): void;
  stop(): void;
}

export function makeStreamSaver(
  { clock, log }: Pick<SessionDeps, "clock" | "log">,
  save: () => Promise<void>,
): StreamSaver {
  let callOff: (() => void) | null = null;
  let stopped = false;
  const report = (error: unknown) => {
    if (error instanceof RunClosed) return;
    if (error instanceof StoreError && error.code === "session_deleted") return;
    log.warn({ trace: traceOf(error) }, "a stream's text was not saved");
  };
  return {
    changed() {
      if (stopped || callOff !== null) return;
      callOff = clock.after(STREAM_SAVE_MS, () => {
        callOff = null;
        save().catch(report);
      });
    },
    stop() {
      stopped = true;
      callOff?.();
    },
  };
}
