// The contract of a tool. One file per tool; `index.ts` lists them.

import type * as z from "zod/mini";

export interface ToolContext {
  /** Absolute; relative paths in arguments start here. */
  readonly workingDir: string;
  /** Aborted on cancel and on timeout; `run` then ends within 200 ms. */
  readonly signal: AbortSignal;
  /** Output while it runs, shown live; the recorded output is `ToolOutput.text`. */
  readonly emit: (text: string) => void;
}

export interface ToolOutput {
  /** What the model reads. Within TOOL_OUTPUT_MAX_BYTES, and it says so where it was cut. */
  readonly text: string;
  readonly isError: boolean;
  /** A better sentence than `describe` could give, now that the outcome is known. */
  readonly description?: string;
  /** Short outcome for the right edge of the tool line, e.g. "214 files". */
  readonly note?: string;
}

export interface Tool<Schema extends z.ZodMiniType = z.ZodMiniType> {
  readonly name: string;
  readonly group: string;
  /** For the model. */
  readonly description: string;
  readonly parameters: Schema;
  readonly timeoutMs: number;
  /** One finished sentence for people about this call, code spans in backticks: "Read `src/a.ts`". */
  describe(args: z.infer<Schema>): string;
  /** Failures are outputs with `isError`; throwing is a bug, and contained as one by the loop. */
  run(args: z.infer<Schema>, context: ToolContext): Promise<ToolOutput>;
}
