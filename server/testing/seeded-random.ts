// Random choices that a seed repeats.

export interface SeededRandom {
  /** An integer from 0 up to, not including, `below`. */
  below(below: number): number;
  pick<T>(choices: readonly [T, ...T[]]): T;
  /** True once in `times`. */
  oneIn(times: number): boolean;
}

/** Mulberry32. */
export function makeSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick: (choices) => choices[below(choices.length)] ?? choices[0],
    oneIn: (times) => below(times) === 0,
  };
}

/** Runs `test` with each of the seeds and with a fresh one; a failure names its seed. */
export async function withSeeds(
  seeds: readonly number[],
  test: (random: SeededRandom, seed: number) => Promise<void>,
): Promise<void> {
  for (const seed of [...seeds, Math.floor(Math.random() * 2 ** 32)]) {
    try {
      await test(makeSeededRandom(seed), seed);
    } catch (cause) {
      throw new Error(`failed with seed ${seed}: ${cause}`, { cause });
    }
  }
}
