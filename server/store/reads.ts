// Reading rows and commands: within a transaction, or of what is committed.

import type { Kysely, Selectable } from "kysely";
import type { ZodMiniType } from "zod/mini";
import type { CommandId, SessionId } from "../../shared/ids.ts";
import {
  type Change,
  changeSchema,
  type RowByKind,
  type RowKind,
  rowSchemas,
  type TextBody,
} from "../../shared/protocol/rows.ts";
import { readWholeText } from "./blobs.ts";
import { decodeValue, unpackEncoded, unpackValue } from "./body.ts";
import {
  type ReadTx,
  type Stored,
  type StoredChange,
  type StoredCommand,
  StoreError,
} from "./store.ts";
import type { RowsTable, Tables } from "./tables.ts";

export type RowSchemas = { readonly [K in RowKind]: ZodMiniType<RowByKind[K]> };
const schemas: RowSchemas = rowSchemas;

export type RowEntry = Selectable<RowsTable>;
/** An entry's columns without what only writing looks at. */
export type RowColumns = Pick<RowEntry, "kind" | "session_id" | "id" | "rev" | "size" | "body">;
export const ROW_COLUMNS = ["kind", "session_id", "id", "rev", "size", "body"] as const;

export const toColumn = (sessionId: SessionId | null): string => sessionId ?? "";

export class Reads implements ReadTx {
  protected readonly db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.db = db;
  }

  async row<K extends RowKind>(
    kind: K,
    sessionId: SessionId | null,
    id: string,
  ): Promise<Stored<K> | null> {
    const entry = await this.entry(kind, sessionId, id);
    return entry === undefined ? null : toStored(kind, sessionId, entry);
  }

  async rows<K extends RowKind>(kind: K, sessionId?: SessionId): Promise<Stored<K>[]> {
    let query = this.db
      .selectFrom("rows")
      .select(ROW_COLUMNS)
      .where("kind", "=", kind)
      .where("body", "is not", null);
    query =
      sessionId === undefined
        ? query.orderBy("rev")
        : query.where("session_id", "=", sessionId).orderBy("ordinal").orderBy("id");
    return toAllStored(kind, await query.execute());
  }

  async rowsById<K extends RowKind>(kind: K, id: string): Promise<Stored<K>[]> {
    const entries = await this.db
      .selectFrom("rows")
      .select(ROW_COLUMNS)
      .where("kind", "=", kind)
      .where("id", "=", id)
      .where("body", "is not", null)
      .orderBy("rev")
      .execute();
    return toAllStored(kind, entries);
  }

  async command(commandId: CommandId): Promise<StoredCommand | null> {
    const entry = await this.db
      .selectFrom("commands")
      .select(["method", "params_hash", "answer"])
      .where("command_id", "=", commandId)
      .executeTakeFirst();
    if (entry === undefined) return null;
    return {
      commandId,
      method: entry.method,
      paramsHash: entry.params_hash,
      answer: unpackValue(entry.answer, `The answer of command ${commandId}`),
    };
  }

  wholeText(body: TextBody): Promise<string> {
    return readWholeText(this.db, body);
  }

  protected entry(
    kind: RowKind,
    sessionId: SessionId | null,
    id: string,
  ): Promise<RowEntry | undefined> {
    return this.db
      .selectFrom("rows")
      .selectAll()
      .where("kind", "=", kind)
      .where("session_id", "=", toColumn(sessionId))
      .where("id", "=", id)
      .executeTakeFirst();
  }
}

/** The row in the form that is stored: fields in the schema's order, nothing beside them. */
export function toCanonical<K extends RowKind>(kind: K, id: string, row: unknown): RowByKind[K] {
  const parsed = schemas[kind].safeParse(row);
  if (!parsed.success) {
    throw new StoreError("corrupt", `${kind} ${id} does not have its row's shape`, parsed.error);
  }
  return parsed.data;
}

export function toStoredChange(entry: RowColumns): StoredChange {
  const { kind, id, rev, body, size } = entry;
  const row = body === null ? null : unpackEncoded(body, nameOf(entry), size);
  return { rev, kind, sessionId: sessionIdOf(entry), id, row };
}

export const toChange = (entry: RowColumns): Change => toCheckedChange(toStoredChange(entry));

/** Throws a `StoreError` if the row does not have its shape. */
export function toCheckedChange(stored: StoredChange): Change {
  const { kind, id } = stored;
  const row = stored.row === null ? null : decodeValue(stored.row.bytes, nameOf(stored));
  const parsed = changeSchema.safeParse({ ...stored, row });
  if (!parsed.success) {
    throw new StoreError("corrupt", `${kind} ${id} does not have its row's shape`, parsed.error);
  }
  return parsed.data;
}

function unpackRow(entry: RowColumns): unknown {
  if (entry.body === null) return null;
  return unpackValue(entry.body, nameOf(entry), entry.size);
}

const nameOf = ({ kind, id }: Pick<RowColumns, "kind" | "id">): string => `${kind} ${id}`;

function toStored<K extends RowKind>(
  kind: K,
  sessionId: SessionId | null,
  entry: RowColumns,
): Stored<K> | null {
  if (entry.body === null) return null;
  const row = toCanonical(kind, entry.id, unpackRow(entry));
  return { rev: entry.rev, sessionId, id: entry.id, row };
}

function toAllStored<K extends RowKind>(kind: K, entries: readonly RowColumns[]): Stored<K>[] {
  return entries.flatMap((entry) => toStored(kind, sessionIdOf(entry), entry) ?? []);
}

function sessionIdOf(entry: RowColumns): SessionId | null {
  return entry.session_id === "" ? null : (entry.session_id as SessionId);
}
