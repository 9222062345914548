// Sockets between a client and a fake daemon in one process. Frames lie still until the test delivers
// them; a connection can be closed, or go dead without a word.

import type { OpenSocket, SocketListener } from "../sync/link.ts";
import { flushPromises } from "./fake-clock.ts";

/** The daemon's end. */
export interface DaemonEnd {
  received(frame: Uint8Array): void;
  closed(): void;
}

interface Wire {
  readonly client: SocketListener;
  daemon: DaemonEnd | null;
  toDaemon: Uint8Array[];
  toClient: Uint8Array[];
  state: "opening" | "open" | "dead" | "closing" | "closed";
}

export type AcceptWire = (send: (frame: Uint8Array) => void, close: () => void) => DaemonEnd;

export class LinkedNetwork {
  readonly #accept: AcceptWire;
  #wires: Wire[] = [];
  /** False: new sockets cannot be opened. */
  isReachable = true;
  /** True: new sockets neither open nor fail. */
  isSilent = false;
  opened = 0;

  constructor(accept: AcceptWire) {
    this.#accept = accept;
  }

  readonly openSocket: OpenSocket = (client) => {
    const wire: Wire = { client, daemon: null, toDaemon: [], toClient: [], state: "opening" };
    this.opened++;
    this.#wires.push(wire);
    return {
      send: (frame) => void wire.toDaemon.push(frame),
      close: () => {
        if (wire.state === "closed") return;
        if (wire.state !== "dead") wire.daemon?.closed();
        wire.state = "closed";
      },
    };
  };

  get openCount(): number {
    return this.#wires.filter(({ state }) => state === "open").length;
  }

  /** Moves frames both ways until nothing moves any more. */
  async deliver(): Promise<void> {
    for (let isMoving = true; isMoving; ) {
      await flushPromises();
      isMoving = this.#wires.map((wire) => this.#move(wire)).includes(true);
    }
  }

  /** The daemon's ends close; the client hears of it on the next delivery. */
  close(): void {
    for (const wire of this.#wires) if (wire.state === "open") wire.state = "closing";
  }

  /**
   * Nothing more arrives on the present sockets, and nobody is told; what was on its way to the
   * client still does.
   */
  goDead(): void {
    for (const wire of this.#wires) {
      if (wire.state !== "open") continue;
      wire.state = "dead";
      for (const frame of wire.toClient.splice(0)) wire.client.received(frame);
    }
  }

  #move(wire: Wire): boolean {
    switch (wire.state) {
      case "opening":
        if (this.isSilent) return false;
        if (this.isReachable) {
          wire.state = "open";
          wire.daemon = this.#accept(
            (frame) => void wire.toClient.push(frame),
            () => {
              if (wire.state === "open") wire.state = "closing";
            },
          );
          wire.client.opened();
        } else {
          wire.state = "closed";
          wire.client.closed();
        }
        return true;
      case "open": {
        const [toDaemon, toClient] = [wire.toDaemon, wire.toClient];
        wire.toDaemon = [];
        wire.toClient = [];
        for (const frame of toDaemon) wire.daemon?.received(frame);
        for (const frame of toClient) wire.client.received(frame);
        return toDaemon.length + toClient.length > 0;
      }
      case "closing": {
        const toClient = wire.toClient;
        wire.toClient = [];
        for (const frame of toClient) wire.client.received(frame);
        wire.state = "closed";
        wire.daemon?.closed();
        wire.client.closed();
        return true;
      }
      case "dead":
      case "closed":
        return false;
    }
  }
}
