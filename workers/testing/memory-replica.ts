// The replica in memory, with the transactions' order of IndexedDB: what is called first is done
// first. Tests may make writes wait or fail.

import { applyChanges, type RowTarget } from "../../shared/feed/apply-page.ts";
import type { BlobHash, CommandId, SessionId } from "../../shared/ids.ts";
import type { KeyPair } from "../../shared/noise/noise-crypto.ts";
import { blobsOfRow, type Change } from "../../shared/protocol/rows.ts";
import type { OutboxEntry } from "../sync/port.ts";
import type {
  PageToStore,
  Position,
  Replica,
  SessionWindow,
  WantedBlob,
  WindowEdge,
} from "../sync/replica.ts";

const NOWHERE: Position = { epoch: null, cursor: 0, token: null, syncedAt: null };

export class MemoryReplica implements Replica {
  readonly rows = new Map<string, Change>();
  readonly blobs = new Map<BlobHash, Uint8Array>();
  readonly wanted = new Map<BlobHash, WantedBlob>();
  readonly outboxEntries = new Map<CommandId, OutboxEntry>();
  readonly drafts = new Map<SessionId, string>();
  stored: Position = NOWHERE;
  keys: KeyPair | null = null;
  daemonKey: Uint8Array | null = null;
  offered: string | null = null;
  /** Awaited before a page is stored. */
  beforeStore: () => Promise<void> = async () => {};
  /** Awaited before an outbox entry is stored. */
  beforePut: () => Promise<void> = async () => {};
  #queue: Promise<unknown> = Promise.resolve();

  position(): Promise<Position> {
    return this.#next(async () => this.stored);
  }

  restart(epoch: string): Promise<void> {
    return this.#next(async () => {
      this.rows.clear();
      this.blobs.clear();
      this.wanted.clear();
      this.stored = { ...NOWHERE, epoch };
    });
  }

  storePage(page: PageToStore): Promise<boolean> {
    return this.#next(async () => {
      await this.beforeStore();
      const { epoch, cursor } = this.stored;
      if (epoch !== page.epoch || cursor < page.base) return false;
      applyChanges(this.#target(cursor), page.changes);
      if (page.upto >= cursor) {
        this.stored = { epoch, cursor: page.upto, token: page.token, syncedAt: page.at };
      }
      return true;
    });
  }

  rail(): Promise<Change[]> {
    return this.#next(async () =>
      [...this.rows.values()].filter(({ kind }) => kind === "session" || kind === "device"),
    );
  }

  window(sessionId: SessionId, count: number, before: WindowEdge | null): Promise<SessionWindow> {
    return this.#next(async () => {
      const all = [...this.rows.values()].filter((change) => change.sessionId === sessionId);
      const session = all.find(({ kind }) => kind === "session");
      if (session === undefined) return { found: false, changes: [], earlier: null };
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
    return this.#next(async () => {
      if (this.wanted.delete(hash)) this.blobs.set(hash, bytes);
    });
  }

  giveUpBlob({ hash }: WantedBlob): Promise<void> {
    return this.#next(async () => void this.wanted.delete(hash));
  }

  dropUnusedBlobs(): Promise<void> {
    return this.#next(async () => {
      const used = new Set(
        [...this.rows.values()].flatMap(({ row }) => (row ? blobsOfRow(row) : [])),
      );
      for (const hash of this.blobs.keys()) if (!used.has(hash)) this.blobs.delete(hash);
    });
  }

  outbox(): Promise<OutboxEntry[]> {
    return this.#next(async () => [...this.outboxEntries.values()]);
  }

  putOutbox(entry: OutboxEntry): Promise<void> {
    return this.#next(async () => {
      await this.beforePut();
      this.outboxEntries.set(entry.commandId, entry);
    });
  }

  claimOutbox(commandId: CommandId): Promise<boolean> {
    return this.#next(async () => {
      const entry = this.outboxEntries.get(commandId);
      if (entry !== undefined) this.outboxEntries.set(commandId, { ...entry, state: "sent" });
      return entry !== undefined;
    });
  }

  withdrawOutbox(commandId: CommandId): Promise<boolean> {
    return this.#next(async () => {
      if (this.outboxEntries.get(commandId)?.state !== "waiting") return false;
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
    return this.#next(async () => void this.drafts.set(sessionId, text));
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

  #target(cursor: number): RowTarget {
    const keyOf = (kind: string, sessionId: string | null, id: string) =>
      `${kind} ${sessionId} ${id}`;
    return {
      knownRev: () => cursor,
      put: (change) => {
        this.rows.set(keyOf(change.kind, change.sessionId, change.id), change);
        const { sessionId } = change;
        if (sessionId === null) return;
        for (const hash of blobsOfRow(change.row)) this.wanted.set(hash, { hash, sessionId });
      },
      remove: (kind, sessionId, id) => void this.rows.delete(keyOf(kind, sessionId, id)),
      removeSession: (sessionId) => {
        for (const [key, change] of this.rows) {
          if (change.sessionId === sessionId) this.rows.delete(key);
        }
      },
    };
  }
}
