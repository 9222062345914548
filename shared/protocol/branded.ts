// A string that is checked here and a type of its own from then on.

import * as z from "zod/mini";

/** The same string as it came; a mere cast, where a pipe would carry its machinery into every bundle. */
export const branded = <T extends string>(pattern: RegExp) =>
  z.string().check(z.regex(pattern)) as unknown as z.ZodMiniType<T, string>;
