// Ephemeral hints about a session. Never the truth: the row replaces what they painted (F1).

import * as z from "zod/mini";
import { branded } from "./branded.ts";
import { recordOf } from "./record-of.ts";
import { callIdSchema, deviceIdSchema } from "./rows.ts";

/** What a stream is part of: `answer`, `reasoning`, or `output:<callId>`. */
export type Part = "answer" | "reasoning" | `output:${string}`;

export const partSchema = branded<Part>(/^(answer|reasoning|output:[\x21-\x7e]{1,128})$/);

export const liveEventSchema = z.discriminatedUnion("type", [
  /** `offset` counts UTF-16 code units from the part's start; neither end lies inside a surrogate pair. */
  z.object({
    type: z.literal("turn.chunk"),
    turnId: z.int(),
    part: partSchema,
    offset: z.int().check(z.nonnegative()),
    text: z.string(),
  }),
  z.object({ type: z.literal("tool.started"), turnId: z.int(), callId: callIdSchema }),
  /** What the session is doing now, in a few words for people; null when idle. */
  z.object({ type: z.literal("session.doing"), doing: z.nullable(z.string()) }),
  /** The other devices at which someone looks at the session now; to those who watch it. */
  z.object({ type: z.literal("session.lookers"), deviceIds: z.array(deviceIdSchema) }),
]);
export type LiveEvent = z.infer<typeof liveEventSchema>;

const isOffset = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

/** What a client holds of a running turn: code units per part. */
export const watchPositionSchema = z.object({
  turnId: z.int(),
  offsets: recordOf(isOffset),
});
export type WatchPosition = z.infer<typeof watchPositionSchema>;
