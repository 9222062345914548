// The meeting point of store, live events and connections: wakes every connection when the feed moves.

import type { DeviceId } from "../../shared/ids.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { Dispatch } from "../methods/caller.ts";
import type { Store } from "../store/store.ts";
import type { AcceptConnection, Connection, Peer } from "../transport/connection.ts";
import { Calls } from "./calls.ts";
import { LiveBoard } from "./live-board.ts";
import type { LiveSink } from "./live-sink.ts";
import { type Deflate, deflate } from "./pack-message.ts";
import { Presence } from "./presence.ts";
import { Scopes } from "./scopes.ts";
import { makeSharedPages } from "./shared-pages.ts";
import { Subscriber } from "./subscriber.ts";

export interface HubOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly dispatch: Dispatch;
  /** As clients are told in the welcome. */
  readonly daemon: { readonly name: string; readonly version: string };
  readonly log: Log;
  /** How messages are packed; the real one if there is none. */
  readonly deflate?: Deflate;
}

export interface Hub {
  readonly accept: AcceptConnection;
  readonly live: LiveSink;
  connectionCount(): number;
  /** Sends what is queued for a device, then closes what it has open. */
  closeDevice(deviceId: DeviceId): void;
  /** From now on calls are refused with shutting_down. Those under way are still answered. */
  beginShutdown(): void;
  /** Lets go of the store. */
  dispose(): void;
}

export function createHub(options: HubOptions): Hub {
  const { store, clock, dispatch, daemon, log } = options;
  const board = new LiveBoard(() => store.head);
  const pack = options.deflate ?? deflate;
  const readPage = makeSharedPages(store, pack);
  const scopes = new Scopes(store);
  const presence = new Presence(clock, () => store.head);
  const subscribers = new Map<Subscriber, Connection>();
  let isShuttingDown = false;
  let failures = 0;

  const hasSibling = (subscriber: Subscriber): boolean => {
    const own = deviceOf(subscribers.get(subscriber)?.peer);
    if (own === null) return false;
    return [...subscribers].some(
      ([other, { peer }]) => other !== subscriber && deviceOf(peer) === own,
    );
  };
  const makeReference = () => {
    failures += 1;
    return `${clock.now().toString(36)}-${failures}`;
  };

  const stopListening = store.onCommit(({ kinds }) => {
    const grantsMoved = kinds.has("grant");
    for (const subscriber of subscribers.keys()) subscriber.wake(grantsMoved);
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
        presence,
        readPage,
        scopes,
        deflate: pack,
        calls,
        clock,
        log,
        daemon,
        hasSibling: () => hasSibling(subscriber),
        onClosed: () => subscribers.delete(subscriber),
      });
      subscribers.set(subscriber, connection);
      return subscriber;
    },
    live: board,
    connectionCount: () => subscribers.size,
    closeDevice(deviceId) {
      for (const connection of [...subscribers.values()]) {
        if (deviceOf(connection.peer) === deviceId) connection.close();
      }
    },
    beginShutdown() {
      isShuttingDown = true;
    },
    dispose: stopListening,
  };
}

const deviceOf = (peer: Peer | undefined): string | null =>
  peer?.kind === "device" ? peer.deviceId : null;
