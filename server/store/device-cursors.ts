// How far each device has acked (F2). Kept in memory, written a little later: a cursor that is lost
// costs its device nothing but rows it already has.

import type { Insertable, Kysely } from "kysely";
import type { DeviceId } from "../../shared/ids.ts";
import type { DeviceCursorsTable, Tables } from "./tables.ts";

/** Runs `work` in a transaction. */
export type Transact = (work: (db: Kysely<Tables>) => Promise<void>) => Promise<void>;

export class DeviceCursors {
  readonly #cursors: Map<string, number>;
  readonly #unsaved = new Set<string>();

  constructor(cursors: Map<string, number>) {
    this.#cursors = cursors;
  }

  static async load(db: Kysely<Tables>): Promise<DeviceCursors> {
    const entries = await db.selectFrom("device_cursors").selectAll().execute();
    return new DeviceCursors(new Map(entries.map((entry) => [entry.device_id, entry.cursor])));
  }

  get(deviceId: DeviceId): number {
    return this.#cursors.get(deviceId) ?? 0;
  }

  /** True if there is now something to save. */
  moveTo(deviceId: DeviceId, cursor: number): boolean {
    if (cursor <= this.get(deviceId)) return false;
    this.#set(deviceId, cursor);
    return true;
  }

  /** True if there is now something to save. */
  reset(deviceId: DeviceId): boolean {
    if (this.get(deviceId) === 0) return false;
    this.#set(deviceId, 0);
    return true;
  }

  /** Writes what is unsaved; it stays unsaved when this rejects. */
  async save(transact: Transact): Promise<void> {
    const entries = [...this.#unsaved].map((device_id) => ({
      device_id,
      cursor: this.#cursors.get(device_id) ?? 0,
    }));
    this.#unsaved.clear();
    try {
      await transact((db) => write(db, entries));
    } catch (error) {
      for (const { device_id } of entries) this.#unsaved.add(device_id);
      throw error;
    }
  }

  #set(deviceId: DeviceId, cursor: number): void {
    this.#cursors.set(deviceId, cursor);
    this.#unsaved.add(deviceId);
  }
}

async function write(
  db: Kysely<Tables>,
  entries: readonly Insertable<DeviceCursorsTable>[],
): Promise<void> {
  for (const { device_id, cursor } of entries) {
    await db
      .insertInto("device_cursors")
      .values({ device_id, cursor })
      .onConflict((conflict) => conflict.column("device_id").doUpdateSet({ cursor }))
      .execute();
  }
}
