// Writes that fail for want of room are done again once some was made. Those of one `OrderedWrites` begin
// as they are given and end in that order: what was stored after one that failed is stored again.

import { isOutOfRoom } from "./replica.ts";

/** False: there is nothing left that may go. */
export type MakeRoom = () => Promise<boolean>;

/** What to do about a write that finds no room. */
export interface RoomFor<T> {
  readonly makeRoom: MakeRoom;
  /** Takes the write's place when no room can be made. */
  readonly otherwise: (() => Promise<T>) | null;
}

/** `write` has to be idempotent. Rejects as the last attempt did. */
export async function writeWithRoom<T>(
  write: () => Promise<T>,
  { makeRoom, otherwise }: RoomFor<T>,
  first: Promise<T> = write(),
  failed: () => void = () => {},
): Promise<T> {
  for (let attempt = first; ; attempt = write()) {
    try {
      return await attempt;
    } catch (error) {
      if (!isOutOfRoom(error)) throw error;
      failed();
      if (await makeRoom()) continue;
      if (otherwise === null) throw error;
      return otherwise();
    }
  }
}

export class OrderedWrites {
  #last: Promise<unknown> = Promise.resolve();
  /** How many attempts failed for want of room: those that began before the last of them are void. */
  #failures = 0;

  run<T>(write: () => Promise<T>, room: RoomFor<T>): Promise<T> {
    const before = this.#failures;
    const attempt = write();
    attempt.catch(() => {}); // It is heard in its turn.
    const settled = this.#last.then(() =>
      writeWithRoom(write, room, before === this.#failures ? attempt : write(), () => {
        this.#failures++;
      }),
    );
    this.#last = settled.catch(() => {}); // Its caller hears of it from `settled`.
    return settled;
  }
}
