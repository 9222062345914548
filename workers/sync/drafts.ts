// What people have written and not sent: kept on disk, and in memory for as long as the disk will not take it.

import type { SessionId } from "../../shared/ids.ts";
import type { Clock } from "../clock.ts";
import { type MakeRoom, writeWithRoom } from "./ordered-writes.ts";
import type { Drafts } from "./replica.ts";

const TRY_AGAIN_MS = 10_000;

export interface DraftKeeperOptions {
  readonly store: Drafts;
  readonly clock: Clock;
  readonly makeRoom: MakeRoom;
  readonly report: (error: unknown) => void;
}

export class DraftKeeper {
  readonly #options: DraftKeeperOptions;
  readonly #unstored = new Map<SessionId, string>();
  #isFailing = false;

  constructor(options: DraftKeeperOptions) {
    this.#options = options;
  }

  async read(sessionId: SessionId): Promise<string> {
    return this.#unstored.get(sessionId) ?? (await this.#options.store.draft(sessionId));
  }

  save(sessionId: SessionId, text: string): void {
    this.#unstored.set(sessionId, text);
    void this.#store(sessionId);
  }

  async #store(sessionId: SessionId): Promise<void> {
    const { store, clock, makeRoom, report } = this.#options;
    // What was written since may be stored by then: an older text must not follow it.
    const write = async () => {
      const text = this.#unstored.get(sessionId);
      if (text === undefined) return;
      await store.saveDraft(sessionId, text);
      if (this.#unstored.get(sessionId) === text) this.#unstored.delete(sessionId);
    };
    try {
      await writeWithRoom(write, { makeRoom, otherwise: null });
      this.#isFailing = false;
    } catch (error) {
      if (this.#isFailing) return;
      this.#isFailing = true;
      report(error);
      clock.after(TRY_AGAIN_MS, () => {
        this.#isFailing = false;
        for (const unstored of [...this.#unstored.keys()]) void this.#store(unstored);
      });
    }
  }
}
