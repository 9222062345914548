// Token counts added up.

import type { Usage } from "../protocol/rows.ts";

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

export const addUsage = (a: Usage, b: Usage | null): Usage => ({
  inputTokens: a.inputTokens + (b?.inputTokens ?? 0),
  outputTokens: a.outputTokens + (b?.outputTokens ?? 0),
  cachedTokens: a.cachedTokens + (b?.cachedTokens ?? 0),
});

/** Counts as a provider gave them, made whole numbers from 0 up: a count that is none must not cost the answer. */
export const countedUsage = (given: Partial<Usage>): Usage => ({
  inputTokens: count(given.inputTokens),
  outputTokens: count(given.outputTokens),
  cachedTokens: count(given.cachedTokens),
});

const count = (given: number | undefined): number =>
  given !== undefined && Number.isFinite(given) ? Math.max(0, Math.round(given)) : 0;
