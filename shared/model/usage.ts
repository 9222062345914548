// Token counts added up.

import type { Usage } from "../protocol/rows.ts";

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

export const addUsage = (a: Usage, b: Usage | null): Usage => ({
  inputTokens: a.inputTokens + (b?.inputTokens ?? 0),
  outputTokens: a.outputTokens + (b?.outputTokens ?? 0),
  cachedTokens: a.cachedTokens + (b?.cachedTokens ?? 0),
});
