import { describe, expect, it } from "vitest";
import { SHUTDOWN_MAX_MS } from "../../shared/limits.ts";
import { makeFakeClock } from "../testing/fake-clock.ts";
import { stopOnSignals } from "./stop-signals.ts";

function setUp(stop: () => Promise<void>) {
  const clock = makeFakeClock();
  const exits: number[] = [];
  const troubles: string[] = [];
  const listeners: (() => void)[] = [];
  stopOnSignals({
    signals: { on: (_, listener) => listeners.push(listener) },
    clock,
    stop,
    exit: (code) => exits.push(code),
    onTrouble: (message) => troubles.push(message),
  });
  return { clock, exits, troubles, signal: () => listeners[0]?.() };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("stopping on a signal", () => {
  it("stops once and exits with 0", async () => {
    let stops = 0;
    const { exits, signal } = setUp(async () => {
      stops += 1;
    });
    signal();
    signal();
    await settled();
    expect({ stops, exits }).toEqual({ stops: 1, exits: [0] });
  });

  it("takes the echo of one key press for what it is, and a second one at its word", async () => {
    const { clock, exits, signal } = setUp(() => new Promise(() => {}));
    signal();
    await clock.advance(50);
    signal();
    expect(exits).toEqual([]);
    await clock.advance(500);
    signal();
    expect(exits).toEqual([130]);
  });

  it("gives up at the limit, and says so", async () => {
    const { clock, exits, troubles, signal } = setUp(() => new Promise(() => {}));
    signal();
    await clock.advance(SHUTDOWN_MAX_MS);
    expect(exits).toEqual([1]);
    expect(troubles).toHaveLength(1);
  });

  it("exits with 1 when stopping fails", async () => {
    const { exits, troubles, signal } = setUp(() => Promise.reject(new Error("disk")));
    signal();
    await settled();
    expect(exits).toEqual([1]);
    expect(troubles).toHaveLength(1);
  });
});
