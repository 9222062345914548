// The store against a plain model of it: random transactions, some of which fail.

import { expect, test } from "vitest";
import type { BlobHash, SessionId } from "../../shared/ids.ts";
import {
  type Change,
  type RowByKind,
  type RowKind,
  turnRowId,
} from "../../shared/protocol/rows.ts";
import {
  plainText,
  sampleDevice,
  sampleDeviceId,
  sampleGrant,
  sampleRequest,
  sampleSession,
  sampleSessionId,
  sampleShare,
  sampleToolResult,
  sampleTurn,
} from "../testing/sample-rows.ts";
import { type SeededRandom, withSeeds } from "../testing/seeded-random.ts";
import { openTemporaryStore } from "../testing/temporary-store.ts";
import { EVERYTHING, type Store, type WriteTx } from "./store.ts";

const TRANSACTIONS = 150;
const LONG_TEXTS = ["a", "b", "c"].map((letter) => letter.repeat(17_000));

interface Entry {
  readonly kind: RowKind;
  readonly sessionId: SessionId | null;
  readonly id: string;
  readonly rev: number;
  readonly row: RowByKind[RowKind] | null;
}

interface Model {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly head: number;
}

const keyOf = ({ kind, sessionId, id }: Pick<Entry, "kind" | "sessionId" | "id">) =>
  `${kind} ${sessionId} ${id}`;

/** The rules of `put` and `remove`, without a database. */
class ModelTx {
  readonly entries: Map<string, Entry>;
  head: number;

  constructor(model: Model) {
    this.entries = new Map(model.entries);
    this.head = model.head;
  }

  isDeleted(sessionId: SessionId | null): boolean {
    if (sessionId === null) return false;
    const session = this.entries.get(keyOf({ kind: "session", sessionId, id: sessionId }));
    return session?.row === null;
  }

  set(entry: Omit<Entry, "rev">): number {
    const old = this.entries.get(keyOf(entry));
    if (old !== undefined && JSON.stringify(old.row) === JSON.stringify(entry.row)) return old.rev;
    if (entry.kind === "session" && entry.row === null) {
      const own = [...this.entries].filter(([, { sessionId }]) => sessionId === entry.sessionId);
      for (const [key, { kind }] of own) if (kind !== "grant") this.entries.delete(key);
      for (const [key, grant] of own.sort(([, a], [, b]) => a.rev - b.rev)) {
        if (grant.kind !== "grant" || grant.row === null) continue;
        this.head += 1;
        this.entries.set(key, { ...grant, rev: this.head, row: null });
      }
    }
    this.head += 1;
    this.entries.set(keyOf(entry), { ...entry, rev: this.head });
    return this.head;
  }
}

/** One random operation on both. */
async function operate(random: SeededRandom, tx: WriteTx, model: ModelTx): Promise<void> {
  const sessionId = sampleSessionId(`session-${random.below(5)}`);
  const text = `text ${random.below(4)}`;
  const kind = random.pick<RowKind>(["session", "turn", "turn", "request", "device", "grant"]);
  const id = idOf(kind, sessionId, random.below(6));
  const owner = kind === "device" ? null : sessionId;
  if (random.oneIn(kind === "session" ? 12 : 5)) {
    const rev = await tx.remove(kind, owner, id);
    if (kind === "session" || !model.isDeleted(owner)) {
      expect(rev).toBe(model.set({ kind, sessionId: owner, id, row: null }));
    }
    return;
  }
  const answer = random.oneIn(3)
    ? await tx.text(random.pick(["", ...LONG_TEXTS]))
    : plainText(text);
  const row = {
    session: sampleSession({ title: text }),
    turn: sampleTurn({ answer }),
    request: sampleRequest({ text: answer }),
    device: sampleDevice({ name: text }),
    toolResult: sampleToolResult(1, text),
    share: sampleShare({ createdBy: sampleDeviceId(text) }),
    grant: sampleGrant({ shareId: text }),
  }[kind];
  const put = tx.put<RowKind>(kind, owner, id, row);
  if (model.isDeleted(owner)) await expect(put).rejects.toMatchObject({ code: "session_deleted" });
  else expect(await put).toBe(model.set({ kind, sessionId: owner, id, row }));
}

function idOf(kind: RowKind, sessionId: SessionId, number: number): string {
  if (kind === "session") return sessionId;
  return kind === "turn" ? turnRowId(number) : `${kind}-${number}-------`;
}

async function checkPages(store: Store, model: Model, after: number): Promise<void> {
  const expected = [...model.entries.values()]
    .filter(({ rev }) => rev > after)
    .sort((a, b) => a.rev - b.rev);
  const changes: Change[] = [];
  for (let cursor = after; ; ) {
    const page = await store.page(cursor, EVERYTHING);
    changes.push(...page.changes);
    expect(page.more).toBe(model.head - page.upto);
    expect(await store.knowsPosition(page.upto, page.token, null)).toBe(true);
    cursor = page.upto;
    if (page.more === 0) break;
  }
  expect(changes).toEqual(expected);
}

async function checkBlobs(store: Store, model: Model, hashes: ReadonlySet<BlobHash>) {
  const rows = JSON.stringify([...model.entries.values()]);
  for (const hash of hashes) {
    expect((await store.readBlob(hash, 0, 1)) !== null).toBe(rows.includes(hash));
  }
}

test("does what a plain model of it does, whatever is written, removed or undone", async () => {
  await withSeeds([1, 2], async (random) => {
    const { store } = await openTemporaryStore();
    const hashes = new Set<BlobHash>();
    let model: Model = { entries: new Map(), head: 0 };
    await store.write(async (tx) => {
      for (const text of LONG_TEXTS) {
        const { blob } = await tx.text(text);
        if (blob !== null) hashes.add(blob);
      }
    });
    for (let i = 0; i < TRANSACTIONS; i += 1) {
      const attempt = new ModelTx(model);
      const isUndone = random.oneIn(6);
      const write = store.write(async (tx) => {
        for (let n = random.below(8); n > 0; n -= 1) await operate(random, tx, attempt);
        if (isUndone) throw new Error("on purpose");
      });
      if (isUndone) await expect(write).rejects.toThrow("on purpose");
      else {
        expect((await write).head).toBe(attempt.head);
        model = attempt;
      }
      expect(store.head).toBe(model.head);
      if (i % 10 === 0) {
        await checkPages(store, model, random.below(model.head + 1));
        await checkBlobs(store, model, hashes);
      }
    }
    await checkPages(store, model, 0);
  });
}, 60_000);
