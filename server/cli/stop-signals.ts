// Turns signals into one orderly stop, and a second signal into an immediate one.

import { SHUTDOWN_MAX_MS } from "../../shared/limits.ts";
import type { Clock } from "../clock.ts";

/** One Ctrl-C arrives several times: from the terminal, and again from npm, which passes it on. */
const SAME_KEYPRESS_MS = 400;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Stopping {
  readonly signals: { on(signal: (typeof SIGNALS)[number], listener: () => void): unknown };
  readonly clock: Clock;
  readonly stop: () => Promise<void>;
  readonly exit: (code: number) => void;
  /** The stop failed or took longer than SHUTDOWN_MAX_MS. */
  readonly onTrouble: (message: string, cause: unknown) => void;
}

export function stopOnSignals({ signals, clock, stop, exit, onTrouble }: Stopping): void {
  let firstAt: number | null = null;
  const begin = (): void => {
    clock.after(SHUTDOWN_MAX_MS, () => {
      onTrouble("Stopping took too long", null);
      exit(1);
    });
    stop().then(
      () => exit(0),
      (cause: unknown) => {
        onTrouble("Stopping failed", cause);
        exit(1);
      },
    );
  };
  const onSignal = (): void => {
    if (firstAt === null) {
      firstAt = clock.now();
      begin();
    } else if (clock.now() - firstAt > SAME_KEYPRESS_MS) {
      exit(130);
    }
  };
  for (const signal of SIGNALS) signals.on(signal, onSignal);
}
