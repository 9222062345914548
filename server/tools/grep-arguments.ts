// What a search can be asked for.

import * as z from "zod/mini";
import { PATH_MAX_CHARS } from "../../shared/limits.ts";

const RESULTS_MAX = 200;
const CONTEXT_MAX_LINES = 100;
const PATTERN_MAX_CHARS = 4_096;

export const grepParameters = z.object({
  pattern: z.string().check(z.minLength(1), z.maxLength(PATTERN_MAX_CHARS)),
  regex: z._default(z.boolean(), true),
  ignore_case: z._default(z.boolean(), false),
  context: z._default(z.int().check(z.minimum(0), z.maximum(CONTEXT_MAX_LINES)), 0),
  output_mode: z._default(z.enum(["content", "files_with_matches", "count"]), "content"),
  include: z.optional(z.string().check(z.minLength(1), z.maxLength(PATH_MAX_CHARS))),
  path: z._default(z.string().check(z.minLength(1), z.maxLength(PATH_MAX_CHARS)), "."),
  max_results: z._default(z.int().check(z.minimum(1), z.maximum(RESULTS_MAX)), 50),
});
export type GrepArguments = z.infer<typeof grepParameters>;
