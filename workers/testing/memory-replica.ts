// The replica in memory, with the transactions' order of IndexedDB: what is called first is done
// first. Tests may make writes wait or fail, and give it little room.

import { applyChanges, type RowTarget } from "../../shared/feed/apply-page.ts";
import type { BlobHash, CommandId, SessionId } from "../../shared/ids.ts";
import type { KeyPair } from "../../shared/noise/noise-crypto.ts";
import { blobsOfRow, type Change, isBodyKind } from "../../shared/protocol/rows.ts";
import type { Storage } from "../sync/keeping.ts";
import type { OutboxEntry } from "../sync/port.ts";
import type {
  FillToStore,
  PageToStore,
  Position,
  Replica,
  SessionWindow,
  WantedBlob,
  WindowEdge,
  Writer,
} from "../sync/replica.ts";

type StoredPosition = Omit<Position, "leftOut">;

const NOWHERE: StoredPosition = { epoch: null, cursor: 0, token: null, syncedAt: null, fills: 0 };
const ROW_OVERHEAD_BYTES = 100;
const UNFILLED = { fill: null, parts: 0 };

export class MemoryReplica implements Replica {
  readonly rows = new Map<string, Change>();
  readonly blobs = new Map<BlobHash, Uint8Array>();
  readonly wanted = new Map<BlobHash, WantedBlob>();
  readonly outboxEntries = new Map<CommandId, OutboxEntry>();
  readonly drafts = new Map<SessionId, string>();
  /** Sessions that are left out, with the connection that fills them or null, and how many parts it stored. */
  readonly marks = new Map<SessionId, { fill: string | null; parts: number }>();
  stored: StoredPosition = NOWHERE;
  days: number | null = null;
  keys: KeyPair | null = null;
  daemonKey: Uint8Array | null = null;
  offered: string | null = null;
  /** What rows, blobs, outbox and drafts may take together; a write that would take more fails. */
  roomBytes = Infinity;
  reserveBytes = 0;
  /** What the browser says it would give; null: it does not say. */
  quotaBytes: number | null = null;
  isPersisted = false;
  readonly storage: Storage = {
    estimate: async () =>
      this.quotaBytes === null ? null : { usage: this.usedBytes, quota: this.quotaBytes },
    isPersisted: async () => this.isPersisted,
  };
  /** Awaited before a page is stored. */
  beforeStore: () => Promise<void> = async () => {};
  /** Awaited before an outbox entry is stored. */
  beforePut: () => Promise<void> = async () => {};
  #queue: Promise<unknown> = Promise.resolve();

  get usedBytes(): number {
    const sizes = [
      [...this.rows.values()].map(({ row }) => JSON.stringify(row).length + ROW_OVERHEAD_BYTES),
      [...this.blobs.values()].map(({ length }) => length),
      [...this.outboxEntries.values()].map((entry) => JSON.stringify(entry).length),
      [...this.drafts.values()].map(({ length }) => length),
    ];
    return sizes.flat().reduce((sum, size) => sum + size, this.reserveBytes);
  }

  position(): Promise<Position> {
    return this.#next(async () => ({ ...this.stored, leftOut: [...this.marks.keys()] }));
  }

  restart(epoch: string, leftOut: readonly SessionId[]): Promise<void> {
    return this.#next(async () => {
      this.rows.clear();
      this.blobs.clear();
      this.wanted.clear();
      this.marks.clear();
      for (const sessionId of leftOut) this.marks.set(sessionId, UNFILLED);
      this.stored = { ...NOWHERE, epoch };
    });
  }

  storePage(page: PageToStore): Promise<boolean> {
    return this.#write(async () => {
      await this.beforeStore();
      const { cursor } = this.stored;
      if (!this.#isAsTaken(page) || cursor < page.base) return false;
      const known = page.changes.filter(({ kind, rev }) => kind === "session" && rev <= cursor);
      const leaving = page.leftOut.filter((id) => !known.some((change) => change.id === id));
      const marks = new Map<SessionId | null, { fill: string | null }>(this.marks);
      for (const sessionId of leaving) marks.set(sessionId, UNFILLED);
      const isFilled = (sessionId: SessionId | null) =>
        marks.get(sessionId)?.fill === page.connection;
      const changes = page.changes.filter(
        ({ kind, sessionId }) => !isBodyKind(kind) || !marks.has(sessionId) || isFilled(sessionId),
      );
      const knownRev: RowTarget["knownRev"] = (kind, sessionId) =>
        isBodyKind(kind) && isFilled(sessionId) ? 0 : cursor;
      applyChanges(this.#target(knownRev), changes);
      for (const sessionId of leaving) {
        if (this.rows.has(keyOf("session", sessionId, sessionId))) this.#leaveOut(sessionId);
      }
      if (page.upto >= cursor) {
        const { upto, token, at } = page;
        this.stored = { ...this.stored, cursor: upto, token, syncedAt: at };
      }
      return true;
    });
  }

  storeFill(fill: FillToStore): Promise<boolean> {
    return this.#write(async () => {
      await this.beforeStore();
      const { sessionId, connection } = fill;
      if (!this.#isAsTaken(fill)) return false;
      const isKnown = this.rows.has(keyOf("session", sessionId, sessionId));
      if (!isKnown && !this.marks.has(sessionId)) return true;
      const mark = this.marks.get(sessionId);
      const stored = mark?.fill === connection ? mark.parts : 0;
      if (fill.part > stored) return false;
      if (fill.isLast && this.stored.cursor !== fill.cursor) return false;
      if (fill.part === 0) this.#leaveOut(sessionId);
      this.marks.set(sessionId, {
        fill: connection,
        parts: fill.part === 0 ? 1 : Math.max(stored, fill.part + 1),
      });
      applyChanges(
        this.#target(() => 0),
        fill.changes,
      );
      if (fill.isLast) {
        this.marks.delete(sessionId);
        this.stored = { ...this.stored, fills: this.stored.fills + 1 };
      }
      return true;
    });
  }

  leaveOut(sessionIds: readonly SessionId[], which: "known" | "all"): Promise<void> {
    return this.#next(async () => {
      for (const sessionId of sessionIds) {
        const isKnown = this.rows.has(keyOf("session", sessionId, sessionId));
        if (isKnown || which === "all") this.#leaveOut(sessionId);
      }
    });
  }

  keepReserve(bytes: number): Promise<void> {
    return this.#next(async () => {
      if (this.usedBytes + bytes > this.roomBytes) throw outOfRoom();
      this.reserveBytes = bytes;
    });
  }

  dropReserve(): Promise<boolean> {
    return this.#next(async () => {
      const had = this.reserveBytes > 0;
      this.reserveBytes = 0;
      return had;
    });
  }

  rail(): Promise<Change[]> {
    return this.#next(async () => [...this.rows.values()].filter(({ kind }) => !isBodyKind(kind)));
  }

  window(sessionId: SessionId, count: number, before: WindowEdge | null): Promise<SessionWindow> {
    return this.#next(async () => {
      const all = [...this.rows.values()].filter((change) => change.sessionId === sessionId);
      const session = all.find(({ kind }) => kind === "session");
      if (session === undefined) return { found: false, isWhole: true, changes: [], earlier: null };
      const seqs = all.flatMap(({ kind, row }) => (kind === "request" && row ? [row.seq] : []));
      const newest = Math.max(0, ...seqs.filter((seq) => seq < (before?.seq ?? Infinity)));
      const first = newest - count + 1;
      const requests = all.filter(
        ({ kind, row }) => kind === "request" && row && row.seq >= first && row.seq <= newest,
      );
      const ids = new Set(requests.map(({ id }) => id));
      const turns = all.filter(({ kind, row }) => kind === "turn" && row && ids.has(row.requestId));
      const turnIds = new Set(turns.map(({ id }) => Number(id)));
      const results = all.filter(
        ({ kind, row }) => kind === "toolResult" && row && turnIds.has(row.turnId),
      );
      const isMore = seqs.some((seq) => seq < first);
      return {
        found: true,
        isWhole: !this.marks.has(sessionId),
        changes: [session, ...requests, ...turns, ...results].sort((a, b) => a.rev - b.rev),
        earlier: isMore ? { seq: first, turnId: Math.min(...turnIds) } : null,
      };
    });
  }

  blob(hash: BlobHash): Promise<Uint8Array | null> {
    return this.#next(async () => this.blobs.get(hash) ?? null);
  }

  wantedBlobs(limit: number): Promise<WantedBlob[]> {
    return this.#next(async () => [...this.wanted.values()].slice(0, limit));
  }

  keepBlob(hash: BlobHash, bytes: Uint8Array): Promise<void> {
    return this.#write(async () => {
      if (this.wanted.delete(hash)) this.blobs.set(hash, bytes);
    });
  }

  giveUpBlob({ hash }: WantedBlob): Promise<void> {
    return this.#next(async () => void this.wanted.delete(hash));
  }

  dropUnusedBlobs(): Promise<void> {
    return this.#next(async () => {
      for (const hash of this.blobs.keys()) if (!this.#isNamed(hash)) this.blobs.delete(hash);
    });
  }

  outbox(): Promise<OutboxEntry[]> {
    return this.#next(async () => [...this.outboxEntries.values()]);
  }

  putOutbox(entry: OutboxEntry): Promise<void> {
    return this.#write(async () => {
      await this.beforePut();
      this.outboxEntries.set(entry.commandId, entry);
    });
  }

  claimOutbox(commandId: CommandId): Promise<OutboxEntry | null> {
    return this.#next(async () => {
      const entry = this.outboxEntries.get(commandId);
      if (entry === undefined || entry.state === "refused") return null;
      const claimed = { ...entry, state: "sent" } as const;
      this.outboxEntries.set(commandId, claimed);
      return claimed;
    });
  }

  amendOutbox(commandId: CommandId, params: unknown): Promise<boolean> {
    return this.#write(async () => {
      const entry = this.outboxEntries.get(commandId);
      if (entry?.state !== "waiting") return false;
      this.outboxEntries.set(commandId, { ...entry, params });
      return true;
    });
  }

  withdrawOutbox(commandId: CommandId): Promise<boolean> {
    return this.#next(async () => {
      if (this.outboxEntries.get(commandId)?.state === "sent") return false;
      return this.outboxEntries.delete(commandId);
    });
  }

  removeOutbox(commandId: CommandId): Promise<void> {
    return this.#next(async () => void this.outboxEntries.delete(commandId));
  }

  draft(sessionId: SessionId): Promise<string> {
    return this.#next(async () => this.drafts.get(sessionId) ?? "");
  }

  saveDraft(sessionId: SessionId, text: string): Promise<void> {
    return this.#write(async () => {
      if (text === "") this.drafts.delete(sessionId);
      else this.drafts.set(sessionId, text);
    });
  }

  keepDays(): Promise<number | null> {
    return this.#next(async () => this.days);
  }

  chooseKeepDays(days: number | null): Promise<void> {
    return this.#next(async () => {
      this.days = days;
    });
  }

  deviceKeys(make: () => KeyPair): Promise<KeyPair> {
    return this.#next(async () => {
      this.keys ??= make();
      return this.keys;
    });
  }

  pinnedDaemon(): Promise<Uint8Array | null> {
    return this.#next(async () => this.daemonKey);
  }

  pinDaemon(publicKey: Uint8Array | null): Promise<void> {
    return this.#next(async () => {
      this.daemonKey = publicKey;
      this.offered = null;
    });
  }

  offeredDaemon(): Promise<string | null> {
    return this.#next(async () => this.offered);
  }

  noteOffered(fingerprint: string): Promise<void> {
    return this.#next(async () => {
      this.offered = fingerprint;
    });
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  /** Nothing is written if there would be too little room after it, and more than before. */
  #write<T>(work: () => Promise<T>): Promise<T> {
    if (this.roomBytes === Infinity) return this.#next(work);
    return this.#next(async () => {
      const maps = [
        this.rows,
        this.blobs,
        this.wanted,
        this.outboxEntries,
        this.drafts,
        this.marks,
      ];
      const before = maps.map((map) => [...map]);
      const [position, used] = [this.stored, this.usedBytes];
      const value = await work();
      if (this.usedBytes <= Math.max(this.roomBytes, used)) return value;
      maps.forEach((map: Map<unknown, unknown>, n) => {
        map.clear();
        for (const [key, entry] of before[n] ?? []) map.set(key, entry);
      });
      this.stored = position;
      throw outOfRoom();
    });
  }

  #isAsTaken({ epoch, fills }: Writer): boolean {
    return this.stored.epoch === epoch && this.stored.fills === fills;
  }

  #leaveOut(sessionId: SessionId): void {
    this.marks.set(sessionId, UNFILLED);
    this.#dropRows(sessionId, isBodyKind);
  }

  #dropRows(sessionId: SessionId, isDropped: (kind: string) => boolean): void {
    for (const [key, { kind, sessionId: of, row }] of this.rows) {
      if (of !== sessionId || !isDropped(kind)) continue;
      this.rows.delete(key);
      for (const hash of row === null ? [] : blobsOfRow(row)) {
        this.wanted.delete(hash);
        if (!this.#isNamed(hash)) this.blobs.delete(hash);
      }
    }
  }

  #isNamed(hash: BlobHash): boolean {
    return [...this.rows.values()].some(
      ({ row }) => row !== null && blobsOfRow(row).includes(hash),
    );
  }

  #target(knownRev: RowTarget["knownRev"]): RowTarget {
    return {
      knownRev,
      put: (change) => {
        this.rows.set(keyOf(change.kind, change.sessionId, change.id), change);
        const { sessionId } = change;
        if (sessionId === null) return;
        for (const hash of blobsOfRow(change.row)) this.wanted.set(hash, { hash, sessionId });
      },
      remove: (kind, sessionId, id) => void this.rows.delete(keyOf(kind, sessionId, id)),
      removeSession: (sessionId) => {
        this.marks.delete(sessionId);
        this.#dropRows(sessionId, () => true);
      },
    };
  }
}

const outOfRoom = () => new DOMException("The quota has been exceeded.", "QuotaExceededError");

const keyOf = (kind: string, sessionId: string | null, id: string): string =>
  `${kind} ${sessionId} ${id}`;
