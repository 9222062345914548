// Reads what running turns had said when they were last saved (F8).

import type { Kysely } from "kysely";
import * as z from "zod/mini";
import { partSchema } from "../../shared/protocol/live-events.ts";
import { sessionIdSchema } from "../../shared/protocol/rows.ts";
import { unpackValue } from "./body.ts";
import { type SavedStream, StoreError } from "./store.ts";
import type { Tables } from "./tables.ts";

const savedStreamSchema = z.object({
  sessionId: sessionIdSchema,
  turnId: z.int(),
  parts: z.partialRecord(partSchema, z.string()),
});

export async function readSavedStreams(db: Kysely<Tables>): Promise<SavedStream[]> {
  const entries = await db
    .selectFrom("saved_streams")
    .selectAll()
    .orderBy("session_id")
    .orderBy("turn_id")
    .execute();
  return entries.map((entry) => {
    const what = `The saved stream of turn ${entry.turn_id} of session ${entry.session_id}`;
    const parsed = savedStreamSchema.safeParse({
      sessionId: entry.session_id,
      turnId: entry.turn_id,
      parts: unpackValue(entry.parts, what),
    });
    if (!parsed.success)
      throw new StoreError("corrupt", `${what} has no known shape`, parsed.error);
    return parsed.data;
  });
}
