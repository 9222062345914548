// The meeting point of store, live events and connections: wakes every connection when the feed moves.

import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Dispatch } from "../methods/caller.ts";
import type { Store } from "../store/store.ts";
import type { AcceptConnection, Peer } from "../transport/connection.ts";
import { Calls } from "./calls.ts";
import { LiveBoard } from "./live-board.ts";
import type { LiveSink } from "./live-sink.ts";
import { makeSharedPages } from "./shared-pages.ts";
import { Subscriber } from "./subscriber.ts";

export interface HubOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly dispatch: Dispatch;
  /** As clients are told in the welcome. */
  readonly daemon: { readonly name: string; readonly version: string };
  readonly log: Log;
}

export interface Hub {
  readonly accept: AcceptConnection;
  readonly live: LiveSink;
  connectionCount(): number;
  /** From now on calls are refused with shutting_down. Those under way are still answered. */
  beginShutdown(): void;
  /** Lets go of the store. */
  dispose(): void;
}

export function createHub(options: HubOptions): Hub {
  const { store, clock, dispatch, daemon, log } = options;
  const board = new LiveBoard(() => store.head);
  const readPage = makeSharedPages(store);
  const subscribers = new Map<Subscriber, Peer>();
  let isShuttingDown = false;
  let failures = 0;

  const hasSibling = (subscriber: Subscriber): boolean => {
    const own = deviceOf(subscribers.get(subscriber));
    if (own === null) return false;
    return [...subscribers].some(([other, peer]) => other !== subscriber && deviceOf(peer) === own);
  };
  const makeReference = () => {
    failures += 1;
    return `${clock.now().toString(36)}-${failures}`;
  };

  const stopListening = store.onCommit(() => {
    for (const subscriber of subscribers.keys()) subscriber.wake();
  });

  return {
    accept(connection) {
      const calls = new Calls({
        connection,
        dispatch,
        log,
        makeReference,
        isShuttingDown: () => isShuttingDown,
      });
      const subscriber: Subscriber = new Subscriber({
        connection,
        store,
        board,
        readPage,
        calls,
        clock,
        log,
        daemon,
        hasSibling: () => hasSibling(subscriber),
        onClosed: () => subscribers.delete(subscriber),
      });
      subscribers.set(subscriber, connection.peer);
      return subscriber;
    },
    live: board,
    connectionCount: () => subscribers.size,
    beginShutdown() {
      isShuttingDown = true;
    },
    dispose: stopListening,
  };
}

const deviceOf = (peer: Peer | undefined): string | null =>
  peer?.kind === "device" ? peer.deviceId : null;
