// What one write transaction can do. Operations run one after another in the order of the calls, so
// that revs follow that order even when nobody awaits in between.

import type { DeviceId, SessionId } from "../../shared/ids.ts";
import { TOOL_CALLS_PER_TURN_MAX } from "../../shared/limits.ts";
import {
  blobsOfRow,
  type RowByKind,
  type RowKind,
  type TextBody,
  turnRowId,
} from "../../shared/protocol/rows.ts";
import {
  deleteUnreferenced,
  hasBlob,
  insertBlob,
  makeTextBody,
  type RowKey,
  replaceRefs,
} from "./blobs.ts";
import { packValue } from "./body.ts";
import { latestRev } from "./positions.ts";
import { Reads, type RowEntry, toCanonical, toColumn } from "./reads.ts";
import {
  type Commit,
  type SavedStream,
  type StoredCommand,
  StoreError,
  type WriteTx,
} from "./store.ts";
import type { RowsTable } from "./tables.ts";

export class Writes extends Reads implements WriteTx {
  #tail: Promise<unknown> = Promise.resolve();
  #isOver = false;
  /** The rev given last; null until the first is wanted. */
  #rev: number | null = null;
  /** Of the rows that were written. */
  readonly #kinds = new Set<string>();
  readonly #sessionsAlive = new Set<SessionId>();
  /** Blobs that may have no row when the transaction ends. */
  readonly #loose = new Set<string>();

  /** Waits for all operations, then completes the commit's record. Returns what moved the head, or null if it did not move. */
  async finish(makeToken: () => string): Promise<Commit | null> {
    await this.end();
    for (const hash of this.#loose) await deleteUnreferenced(this.db, hash);
    if (this.#rev === null) return null;
    await this.db
      .insertInto("commits")
      .values({ last_rev: this.#rev, token: makeToken() })
      .execute();
    return { head: this.#rev, kinds: this.#kinds };
  }

  /** Lets nothing more begin and waits for what has: no statement may run after the transaction. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#tail;
  }

  put<K extends RowKind>(
    kind: K,
    sessionId: SessionId | null,
    id: string,
    row: RowByKind[K],
  ): Promise<number> {
    return this.#inOrder(async () => {
      await this.#refuseIfDeleted(sessionId);
      const canonical = toCanonical(kind, id, row);
      const { body, size } = packValue(canonical);
      const old = await this.entry(kind, sessionId, id);
      if (old !== undefined && old.body !== null && Buffer.compare(old.body, body) === 0) {
        return old.rev;
      }
      const blobs = new Set(blobsOfRow(canonical));
      for (const hash of blobs) await this.#requireBlob(hash, kind, id);
      const ordinal = await this.#ordinalOf(sessionId, id, canonical, old);
      const rev = await this.#nextRev();
      const key = { kind, session_id: toColumn(sessionId), id };
      await this.#upsert({ ...key, ordinal, rev, size, blobs: blobs.size, body });
      if (blobs.size > 0 || (old?.blobs ?? 0) > 0) {
        for (const hash of await replaceRefs(this.db, key, blobs)) this.#loose.add(hash);
      }
      return rev;
    });
  }

  remove(kind: RowKind, sessionId: SessionId | null, id: string): Promise<number> {
    return this.#inOrder(async () => {
      const old = await this.entry(kind, sessionId, id);
      if (old !== undefined && old.body === null) return old.rev;
      if (kind !== "session" && sessionId !== null) {
        const session = await this.entry("session", sessionId, sessionId);
        if (session !== undefined && session.body === null) return session.rev;
      }
      if (kind === "session" && sessionId !== null) {
        await this.#clearSession(sessionId);
        await this.#revokeGrants(sessionId);
      } else await this.#releaseBlobs(kind, sessionId, id);
      return this.#bury({ kind, session_id: toColumn(sessionId), id });
    });
  }

  text(text: string): Promise<TextBody> {
    return this.#inOrder(async () => {
      const { body, blob } = makeTextBody(text);
      if (blob !== null) {
        await insertBlob(this.db, blob.hash, blob.bytes);
        this.#loose.add(blob.hash);
      }
      return body;
    });
  }

  rememberCommand(command: StoredCommand, deviceId: DeviceId | null, at: number): Promise<void> {
    return this.#inOrder(async () => {
      const values = {
        command_id: command.commandId,
        method: command.method,
        params_hash: command.paramsHash,
        answer: packValue(command.answer).body,
        device_id: deviceId,
        at,
      };
      await this.db.insertInto("commands").values(values).execute();
    });
  }

  saveStream({ sessionId, turnId, parts }: SavedStream): Promise<void> {
    return this.#inOrder(async () => {
      await this.#refuseIfDeleted(sessionId);
      const { body } = packValue(parts);
      await this.db
        .insertInto("saved_streams")
        .values({ session_id: sessionId, turn_id: turnId, parts: body })
        .onConflict((conflict) =>
          conflict.columns(["session_id", "turn_id"]).doUpdateSet({ parts: body }),
        )
        .execute();
    });
  }

  dropStream(sessionId: SessionId, turnId: number): Promise<void> {
    return this.#inOrder(async () => {
      await this.db
        .deleteFrom("saved_streams")
        .where("session_id", "=", sessionId)
        .where("turn_id", "=", turnId)
        .execute();
    });
  }

  #inOrder<T>(operation: () => Promise<T>): Promise<T> {
    if (this.#isOver) return Promise.reject(new Error("This transaction is over"));
    const result = this.#tail.then(operation);
    this.#tail = result.catch(() => undefined); // Its caller hears of it from `result`.
    return result;
  }

  async #nextRev(): Promise<number> {
    this.#rev = (this.#rev ?? (await latestRev(this.db))) + 1;
    return this.#rev;
  }

  async #refuseIfDeleted(sessionId: SessionId | null): Promise<void> {
    if (sessionId === null || this.#sessionsAlive.has(sessionId)) return;
    const session = await this.entry("session", sessionId, sessionId);
    if (session !== undefined && session.body === null) {
      throw new StoreError("session_deleted", `Session ${sessionId} was deleted`);
    }
    this.#sessionsAlive.add(sessionId);
  }

  async #requireBlob(hash: string, kind: RowKind, id: string): Promise<void> {
    if (await hasBlob(this.db, hash)) return;
    throw new StoreError("blob_missing", `${kind} ${id} refers to ${hash}, which is not stored`);
  }

  async #ordinalOf(
    sessionId: SessionId | null,
    id: string,
    row: RowByKind[RowKind],
    old: RowEntry | undefined,
  ): Promise<number> {
    if ("seq" in row) return row.seq;
    if ("calls" in row) return turnIdOf(id);
    if (!("callId" in row)) return 0;
    if (old !== undefined && old.body !== null) return old.ordinal;
    const turn = await this.row("turn", sessionId, turnRowId(row.turnId));
    const index = turn?.row.calls.findIndex(({ callId }) => callId === row.callId) ?? -1;
    const last = TOOL_CALLS_PER_TURN_MAX - 1;
    return row.turnId * TOOL_CALLS_PER_TURN_MAX + (index < 0 ? last : Math.min(index, last));
  }

  async #upsert(entry: RowsTable): Promise<void> {
    const { kind, ordinal, rev, size, blobs, body } = entry;
    this.#kinds.add(kind);
    await this.db
      .insertInto("rows")
      .values(entry)
      .onConflict((conflict) =>
        conflict
          .columns(["kind", "session_id", "id"])
          .doUpdateSet({ ordinal, rev, size, blobs, body }),
      )
      .execute();
  }

  async #releaseBlobs(kind: RowKind, sessionId: SessionId | null, id: string): Promise<void> {
    const key = { kind, session_id: toColumn(sessionId), id };
    for (const hash of await replaceRefs(this.db, key, new Set())) this.#loose.add(hash);
  }

  async #clearSession(sessionId: SessionId): Promise<void> {
    const refs = await this.db
      .selectFrom("blob_refs")
      .select("hash")
      .distinct()
      .where("session_id", "=", sessionId)
      .execute();
    for (const { hash } of refs) this.#loose.add(hash);
    for (const table of ["blob_refs", "saved_streams"] as const) {
      await this.db.deleteFrom(table).where("session_id", "=", sessionId).execute();
    }
    await this.db
      .deleteFrom("rows")
      .where("session_id", "=", sessionId)
      .where("kind", "!=", "grant")
      .execute();
    this.#sessionsAlive.delete(sessionId);
  }

  /** They stay as tombstones: by them viewers learn that the session is gone, whenever they come. */
  async #revokeGrants(sessionId: SessionId): Promise<void> {
    const grants = await this.db
      .selectFrom("rows")
      .select(["kind", "session_id", "id"])
      .where("session_id", "=", sessionId)
      .where("kind", "=", "grant")
      .where("body", "is not", null)
      .orderBy("rev")
      .execute();
    for (const key of grants) await this.#bury(key);
  }

  async #bury(key: RowKey): Promise<number> {
    const rev = await this.#nextRev();
    await this.#upsert({ ...key, ordinal: 0, rev, size: 0, blobs: 0, body: null });
    return rev;
  }
}

function turnIdOf(id: string): number {
  const turnId = Number(id);
  if (!Number.isSafeInteger(turnId) || turnId < 0) throw new Error(`"${id}" is no turn id`);
  return turnId;
}
