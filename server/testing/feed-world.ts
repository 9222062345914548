// Devices of all kinds at one daemon, to which anything may happen in any order: what is written, kept,
// left out, granted, revoked, cut, slow, restarted or set back. In the end it says who holds what not.

import { expect } from "vitest";
import type { DeviceId, SessionId } from "../../shared/ids.ts";
import { type Change, isBodyKind } from "../../shared/protocol/rows.ts";
import type { Hub } from "../feed/hub.ts";
import type { TurnStream } from "../feed/live-sink.ts";
import { EVERYTHING, type Store, type WriteTx } from "../store/store.ts";
import { type FeedClient, makeFeedClient } from "./feed-client.ts";
import type { FeedDaemon } from "./feed-daemon.ts";
import type { Replica } from "./plain-replica.ts";
import {
  plainText,
  sampleDevice,
  sampleDeviceId,
  sampleGrant,
  sampleSession,
  sampleSessionId,
  sampleTurn,
} from "./sample-rows.ts";
import type { SeededRandom } from "./seeded-random.ts";

const STREAMED = sampleSessionId("streamed");
const DAY_MS = 24 * 60 * 60_000;
const DAYS = 7;

interface WorldDevice {
  readonly deviceId: DeviceId;
  readonly isViewer: boolean;
  readonly client: FeedClient;
}

export class FeedWorld {
  readonly #random: SeededRandom;
  readonly #daemon: FeedDaemon;
  readonly #devices: readonly WorldDevice[];
  readonly #backups = new Map<FeedClient, Replica>();
  readonly operations: string[] = [];
  #stream: TurnStream | null = null;
  #streamed = "";
  #turnId = 0;

  private constructor(random: SeededRandom, daemon: FeedDaemon) {
    this.#random = random;
    this.#daemon = daemon;
    const accept: Hub["accept"] = (connection) => daemon.hub.accept(connection);
    const owner = (name: string, options: Parameters<typeof makeFeedClient>[2]) => {
      const deviceId = sampleDeviceId(name);
      return { deviceId, isViewer: false, client: makeFeedClient(accept, deviceId, options) };
    };
    const viewer = (name: string, packings: string[]) => {
      const deviceId = sampleDeviceId(name);
      const client = makeFeedClient(accept, deviceId, { role: "viewer", packings });
      return { deviceId, isViewer: true, client };
    };
    this.#devices = [
      owner("plain", {}),
      owner("packed", { packings: ["other", "deflate-raw"] }),
      owner("scoped", { days: DAYS, packings: ["deflate-raw"] }),
      viewer("viewer-a", []),
      viewer("viewer-b", ["deflate-raw"]),
    ];
  }

  static async make(random: SeededRandom, daemon: FeedDaemon): Promise<FeedWorld> {
    const world = new FeedWorld(random, daemon);
    await daemon.store.write(async (tx) => {
      await tx.put("session", STREAMED, STREAMED, sampleSession({ title: "streamed" }));
      for (const { deviceId } of world.#devices) {
        await tx.put("device", null, deviceId, sampleDevice());
      }
    });
    await daemon.copy();
    for (const { client } of world.#devices) client.connect();
    return world;
  }

  async step(): Promise<void> {
    const random = this.#random;
    const { client } = this.#anyDevice();
    const operation = random.pick([
      ...(["write", "write", "write", "write", "write", "write", "stream", "stream"] as const),
      ...(["wait", "cut", "connect", "connect", "stall", "resume", "take"] as const),
      ...(["keep", "keep", "leave", "grant", "grant", "revoke"] as const),
      ...(random.oneIn(6) ? (["back up", "restore", "copy", "restart", "set back"] as const) : []),
    ]);
    this.operations.push(operation);
    switch (operation) {
      case "write":
        return this.#write((tx) => writeSomething(random, tx, this.#daemon.clock.now()));
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
      case "keep":
        return client.keep(anySession(random));
      case "leave":
        return client.leave(anySession(random));
      case "grant":
      case "revoke":
        return this.#share(operation === "revoke");
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
    await this.#daemon.store.write(async () => {}); // Whoever was granted something may watch now.
    for (const { client } of this.#devices) this.#connect(client);
    for (let i = 0; i < 30; i += 1) await this.#daemon.clock.advance(100);
  }

  async check(): Promise<void> {
    const { store } = this.#daemon;
    const rows = await allRows(store);
    for (const { client, isViewer, deviceId } of this.#devices) {
      const visible = isViewer ? asViewer(rows, deviceId) : rows;
      const isHeld = ({ kind, sessionId }: Change) =>
        sessionId === null || !isBodyKind(kind) || !client.leftOut.has(sessionId);
      expect(client.rows(), deviceId).toEqual(visible.filter(isHeld));
      const shows = (id: SessionId) => visible.some(({ sessionId }) => sessionId === id);
      // A daemon that was set back may know nothing of what a client lacks.
      const lacking = [...client.leftOut].filter((id) => client.wanted.has(id) && shows(id));
      expect(lacking, deviceId).toEqual([]);
      if (this.#stream === null || !shows(STREAMED) || client.leftOut.has(STREAMED)) continue;
      expect(client.painted(STREAMED, this.#turnId, "answer"), deviceId).toBe(this.#streamed);
    }
  }

  #anyDevice(): WorldDevice {
    const [first, ...others] = this.#devices;
    if (first === undefined) throw new Error("There are no devices");
    return this.#random.pick([first, ...others]);
  }

  #connect(client: FeedClient): void {
    client.link.cut();
    client.connect();
    client.watch(STREAMED);
  }

  async #write(work: (tx: WriteTx) => Promise<unknown>): Promise<void> {
    const write = this.#daemon.store.write(work).then(() => {}, isDeletion);
    if (this.#random.oneIn(2)) await write;
  }

  async #share(isRevoked: boolean): Promise<void> {
    const viewers = this.#devices.filter(({ isViewer }) => isViewer);
    const viewer = viewers[this.#random.below(viewers.length)]?.deviceId ?? "";
    const sessionId = anySession(this.#random);
    const grant = sampleGrant({ shareId: `share ${this.#random.below(3)}` });
    return this.#write(async (tx) => {
      if (isRevoked) await tx.remove("grant", sessionId, viewer);
      else if ((await tx.row("session", sessionId, sessionId)) !== null) {
        await tx.put("grant", sessionId, viewer, grant);
      }
    });
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
    if (this.#random.oneIn(12)) await this.#endStream("done");
  }

  /** The row takes the place of the text. */
  async #endStream(state: "done" | "interrupted"): Promise<void> {
    if (this.#stream === null) return;
    const turn = sampleTurn({ state, answer: plainText(this.#streamed) });
    const id = String(this.#turnId);
    await this.#daemon.store.write((tx) => tx.put("turn", STREAMED, id, turn));
    this.#stream.end();
    this.#stream = null;
    this.#streamed = "";
  }

  async #restart(fromCopy: boolean): Promise<void> {
    for (const { client } of this.#devices) client.link.cut();
    // As the sessions do when the daemon comes up again.
    await this.#endStream("interrupted");
    await this.#daemon.restart(fromCopy);
  }
}

const anySession = (random: SeededRandom): SessionId =>
  random.oneIn(4) ? STREAMED : sampleSessionId(`session-${random.below(4)}`);

/** Writes what a daemon might; that of a deleted session is refused. */
async function writeSomething(random: SeededRandom, tx: WriteTx, now: number): Promise<void> {
  const id = sampleSessionId(`session-${random.below(4)}`);
  const session = await tx.row("session", id, id);
  const title = `title ${random.below(1_000)}`;
  if (random.oneIn(4)) {
    const device = sampleDeviceId(`other-${random.below(3)}`);
    if (random.oneIn(3)) await tx.remove("device", null, device);
    else await tx.put("device", null, device, sampleDevice({ name: title }));
  }
  if (session === null || random.oneIn(6)) {
    const pinned = random.oneIn(4);
    const modifiedAt = now - random.below(2 * DAYS) * DAY_MS;
    await tx.put("session", id, id, sampleSession({ title, pinned, modifiedAt }));
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

/** All live rows, in rev order. */
export async function allRows(store: Store): Promise<Change[]> {
  const changes: Change[] = [];
  for (let cursor = 0; ; ) {
    const page = await store.page(cursor, EVERYTHING);
    changes.push(...page.changes);
    cursor = page.upto;
    if (page.more === 0) return changes.filter(({ row }) => row !== null);
  }
}

/** What a viewer may hold: a granted session's row is at least as new as the grant. */
function asViewer(rows: readonly Change[], viewer: DeviceId): Change[] {
  const grants = new Map<SessionId, number>();
  for (const { kind, sessionId, id, rev } of rows) {
    if (kind === "grant" && id === viewer) grants.set(sessionId, rev);
  }
  return rows
    .flatMap((change): Change[] => {
      if (change.kind === "device") return change.id === viewer ? [change] : [];
      const grantRev = grants.get(change.sessionId);
      if (grantRev === undefined || change.kind === "grant" || change.kind === "share") return [];
      if (change.kind !== "session") return [change];
      return [{ ...change, rev: Math.max(change.rev, grantRev) }];
    })
    .sort((a, b) => a.rev - b.rev);
}

function isDeletion(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "session_deleted")) throw error;
}
