// Several devices, disconnects, restores and restarts in a random order: in the end all hold the
// daemon's rows, and see its text.

import { copyFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Change } from "../../shared/protocol/rows.ts";
import type { Store, WriteTx } from "../store/store.ts";
import { makeFakeClock } from "../testing/fake-clock.ts";
import { type Backup, type FeedClient, makeFeedClient } from "../testing/feed-client.ts";
import {
  plainText,
  sampleDevice,
  sampleDeviceId,
  sampleSession,
  sampleSessionId,
  sampleTurn,
} from "../testing/sample-rows.ts";
import { type SeededRandom, withSeeds } from "../testing/seeded-random.ts";
import { silentLog } from "../testing/silent-log.ts";
import { makeTemporaryFolder, openStoreAt } from "../testing/temporary-store.ts";
import { createHub, type Hub } from "./hub.ts";
import type { TurnStream } from "./live-sink.ts";

const OPERATIONS = 240;
const CLIENTS = 4;
const SEEDS = [1, 2];

/** A daemon that can be killed, and set back to a copy of its database. */
async function makeDaemon(folder: string) {
  const clock = makeFakeClock();
  const path = join(folder, "troupe.db");
  const copy = join(folder, "copy.db");
  let store: Store = await openStoreAt(path, clock);
  let hub = makeHub();
  let isCopied = false;

  function makeHub(): Hub {
    const daemon = { name: "test", version: "1" };
    return createHub({ store, clock, dispatch: async () => ({}), daemon, log: silentLog });
  }
  return {
    clock,
    get store() {
      return store;
    },
    get hub() {
      return hub;
    },
    async copy() {
      await copyFile(path, copy);
      await copyFile(`${path}-wal`, `${copy}-wal`);
      isCopied = true;
    },
    async restart(fromCopy: boolean) {
      hub.dispose();
      await store.close();
      if (fromCopy && isCopied) {
        await rm(`${path}-wal`, { force: true });
        await copyFile(copy, path);
        await copyFile(`${copy}-wal`, `${path}-wal`);
      }
      store = await openStoreAt(path, clock);
      hub = makeHub();
    },
  };
}

/** Writes what a daemon might; that of a deleted session is refused. */
async function writeSomething(random: SeededRandom, tx: WriteTx): Promise<void> {
  const id = sampleSessionId(`session-${random.below(4)}`);
  const session = await tx.row("session", id, id);
  const title = `title ${random.below(1_000)}`;
  if (random.oneIn(4)) {
    const device = sampleDeviceId(`other-${random.below(3)}`);
    if (random.oneIn(3)) await tx.remove("device", null, device);
    else await tx.put("device", null, device, sampleDevice({ name: title }));
  }
  if (session === null && (await tx.rows("turn", id)).length === 0) {
    await tx.put("session", id, id, sampleSession({ title }));
    return;
  }
  if (random.oneIn(40)) await tx.remove("session", id, id);
  else if (random.oneIn(8)) await tx.remove("turn", id, String(1 + random.below(9)));
  else {
    const rows = random.oneIn(20) ? 600 : 1 + random.below(4);
    for (let i = 0; i < rows; i += 1) {
      const turn = sampleTurn({ state: "done", answer: plainText(`${title} ${i}`) });
      await tx.put("turn", id, String(rows > 100 ? 100 + i : 1 + random.below(9)), turn);
    }
  }
}

async function allRows(store: Store): Promise<Change[]> {
  const changes: Change[] = [];
  for (let cursor = 0; ; ) {
    const page = await store.page(cursor, { kind: "everything" });
    changes.push(...page.changes);
    cursor = page.upto;
    if (page.more === 0) return changes.filter(({ row }) => row !== null);
  }
}

class World {
  readonly #random: SeededRandom;
  readonly #daemon: Awaited<ReturnType<typeof makeDaemon>>;
  readonly #clients: FeedClient[];
  readonly #backups = new Map<FeedClient, Backup>();
  readonly operations: string[] = [];
  #stream: TurnStream | null = null;
  #streamed = "";
  #turnId = 0;

  constructor(random: SeededRandom, daemon: Awaited<ReturnType<typeof makeDaemon>>) {
    this.#random = random;
    this.#daemon = daemon;
    const accept: Hub["accept"] = (connection) => daemon.hub.accept(connection);
    this.#clients = Array.from({ length: CLIENTS }, (_, index) =>
      makeFeedClient(accept, sampleDeviceId(`device-${index}`)),
    );
    for (const client of this.#clients) client.connect();
  }

  async step(): Promise<void> {
    const random = this.#random;
    const client = this.#clients[random.below(CLIENTS)];
    if (client === undefined) return;
    const operation = random.pick([
      ...(["write", "write", "write", "write", "write", "write", "stream", "stream"] as const),
      ...(["wait", "cut", "connect", "connect", "stall", "resume", "take"] as const),
      ...(random.oneIn(6) ? (["back up", "restore", "copy", "restart", "set back"] as const) : []),
    ]);
    this.operations.push(operation);
    switch (operation) {
      case "write":
        return this.#write();
      case "stream":
        return this.#streamSomething();
      case "wait":
        return this.#daemon.clock.advance(random.below(100));
      case "cut":
        return client.link.cut();
      case "connect":
        return this.#connect(client);
      case "stall":
        return client.link.stall();
      case "resume":
        return client.link.resume();
      case "take":
        return client.link.take(1 + random.below(3));
      case "back up":
        this.#backups.set(client, client.backup());
        return;
      case "restore":
        client.link.cut();
        client.restore(this.#backups.get(client) ?? client.backup());
        return;
      case "copy":
        return this.#daemon.copy();
      case "restart":
      case "set back":
        return this.#restart(operation === "set back");
    }
  }

  /** Everyone comes back and reads. */
  async settle(): Promise<void> {
    for (const client of this.#clients) this.#connect(client);
    for (let i = 0; i < 20; i += 1) await this.#daemon.clock.advance(100);
  }

  async check(): Promise<void> {
    const { store } = this.#daemon;
    const rows = await allRows(store);
    for (const client of this.#clients) {
      expect(client.cursor).toBe(store.head);
      expect(client.rows()).toEqual(rows);
      if (this.#stream !== null)
        expect(client.painted(STREAMED, this.#turnId, "answer")).toBe(this.#streamed);
    }
  }

  #connect(client: FeedClient): void {
    client.link.cut();
    client.connect();
    client.watch(STREAMED);
  }

  async #write(): Promise<void> {
    const work = (tx: WriteTx) => writeSomething(this.#random, tx);
    const write = this.#daemon.store.write(work).then(() => {}, isDeletion);
    if (this.#random.oneIn(2)) await write;
  }

  async #streamSomething(): Promise<void> {
    if (this.#stream === null) {
      const { store, hub } = this.#daemon;
      // After a daemon was set back, the same number may be given again.
      this.#turnId = (await store.rows("turn", STREAMED)).length + 1;
      const id = String(this.#turnId);
      const { head } = await store.write((tx) => tx.put("turn", STREAMED, id, sampleTurn()));
      this.#stream = hub.live.openStream(STREAMED, this.#turnId, head);
    }
    const text = `${this.#random.below(100)}😀 `;
    this.#stream.append("answer", text);
    this.#streamed += text;
  }

  async #restart(fromCopy: boolean): Promise<void> {
    for (const client of this.#clients) client.link.cut();
    if (this.#stream !== null) {
      // As the sessions do when the daemon comes up again.
      const answer = plainText(this.#streamed);
      const turn = sampleTurn({ state: "interrupted", answer });
      const id = String(this.#turnId);
      await this.#daemon.store.write((tx) => tx.put("turn", STREAMED, id, turn));
      this.#stream.end();
      this.#stream = null;
      this.#streamed = "";
    }
    await this.#daemon.restart(fromCopy);
  }
}

const STREAMED = sampleSessionId("streamed");

function isDeletion(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "session_deleted")) throw error;
}

test("[F1] [F3] [F4] leaves every device with the daemon's rows and text, whatever is cut, slow, restarted or set back", async () => {
  await withSeeds(SEEDS, async (random) => {
    const daemon = await makeDaemon(await makeTemporaryFolder());
    const world = new World(random, daemon);
    try {
      for (let i = 0; i < OPERATIONS; i += 1) {
        await world.step();
        if (i % 80 === 79) {
          await world.settle();
          await world.check();
        }
      }
    } catch (cause) {
      throw new Error(`after ${world.operations.join(", ")}: ${cause}`, { cause });
    }
  });
}, 60_000);
