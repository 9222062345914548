// A daemon's store and hub without what is around them, which can be killed, and set back to a copy of
// its data.

import { deflateRawSync } from "node:zlib";
import { createHub, type Hub } from "../feed/hub.ts";
import type { Dispatch } from "../methods/caller.ts";
import type { Store } from "../store/store.ts";
import type { FakeClock } from "./fake-clock.ts";
import { silentLog } from "./silent-log.ts";

/** Where a kind of store keeps its data. */
export interface StoreHarness {
  readonly clock: FakeClock;
  /** Opens the data there is. */
  open(): Promise<Store>;
  /** Keeps the data as it is committed now. */
  copy(): Promise<void>;
  /** Puts what `copy` kept in place of the data, which is not open. */
  setBack(): Promise<void>;
}

export interface FeedDaemon {
  readonly clock: FakeClock;
  readonly store: Store;
  readonly hub: Hub;
  copy(): Promise<void>;
  /** Every connection must have been cut. Without a copy it comes up with what it had. */
  restart(fromCopy: boolean): Promise<void>;
}

export interface FeedDaemonOptions {
  /** Resolves when packing is through. */
  readonly packing?: () => Promise<void>;
  /** What answers calls, on a store that was just opened. */
  readonly makeDispatch?: (store: Store) => Promise<Dispatch>;
}

export async function makeFeedDaemon(
  harness: StoreHarness,
  { packing = async () => {}, makeDispatch = async () => async () => ({}) }: FeedDaemonOptions = {},
): Promise<FeedDaemon> {
  const { clock } = harness;
  let store = await harness.open();
  let dispatch = await makeDispatch(store);
  let hub = makeHub();
  let isCopied = false;

  function makeHub(): Hub {
    return createHub({
      store,
      clock,
      dispatch,
      daemon: { name: "test", version: "1" },
      log: silentLog,
      async deflate(bytes) {
        await packing();
        return new Uint8Array(deflateRawSync(bytes));
      },
    });
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
      await harness.copy();
      isCopied = true;
    },
    async restart(fromCopy) {
      hub.dispose();
      await store.close();
      if (fromCopy && isCopied) await harness.setBack();
      store = await harness.open();
      dispatch = await makeDispatch(store);
      hub = makeHub();
    },
  };
}
