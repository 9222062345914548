// All open connections together: their making, counting, and common end.

import type { DeviceId } from "../../shared/ids.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { AcceptConnection, Peer } from "./connection.ts";
import { makeEncodeMessage } from "./encode-message.ts";
import type { QueueBudget } from "./queue-budget.ts";
import { QueuedConnection } from "./queued-connection.ts";
import type { Wire } from "./wire.ts";

export interface ConnectionsOptions {
  readonly accept: AcceptConnection;
  readonly budget: QueueBudget;
  readonly clock: Clock;
  readonly log: Log;
}

/** The connections there are, over whatever wire. */
export interface Connections {
  /** Makes a connection and hands it to those above. */
  connect(peer: Peer, wire: Wire, hasHeartbeat: boolean): QueuedConnection;
  count(): number;
  /** Tells a device why, and closes what it has open. */
  expel(deviceId: DeviceId, error: WireError): void;
  /** Says `shuttingDown` to all and closes them; resolves when all are gone, cut at `graceMs`. */
  shutDown(graceMs: number): Promise<void>;
}

export function makeConnections(options: ConnectionsOptions): Connections {
  const { accept, budget, clock, log } = options;
  const encode = makeEncodeMessage();
  const open = new Set<QueuedConnection>();
  let lastId = 0;
  let whenEmpty = () => {};
  return {
    connect(peer, wire, hasHeartbeat) {
      lastId += 1;
      const connection = new QueuedConnection({
        id: `connection-${lastId}`,
        peer,
        wire,
        budget,
        encode,
        clock,
        log,
        hasHeartbeat,
        onEnded() {
          open.delete(connection);
          if (open.size === 0) whenEmpty();
        },
      });
      open.add(connection);
      connection.accept(accept);
      return connection;
    },
    count: () => open.size,
    expel(deviceId, error) {
      for (const connection of open) {
        const { peer } = connection;
        if (peer.kind === "device" && peer.deviceId === deviceId) connection.expel(error);
      }
    },
    async shutDown(graceMs) {
      const empty = new Promise<void>((resolve) => {
        whenEmpty = resolve;
      });
      for (const connection of open) {
        connection.send({ type: "shuttingDown" });
        connection.close("shuttingDown");
      }
      if (open.size === 0) return;
      const stop = clock.after(graceMs, () => {
        for (const connection of open) connection.destroy();
      });
      await empty;
      stop();
    },
  };
}
