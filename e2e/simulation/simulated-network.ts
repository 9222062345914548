// The sockets of a simulated world. Frames lie still until they are delivered, each way by itself; a
// socket can be held, or cut, after which each end hears of it at a time of its own.

import type { OpenSocket, SocketListener } from "../../workers/sync/link.ts";
import type { DaemonEnd } from "../../workers/testing/linked-network.ts";

export type Direction = "toDaemon" | "toClient";

/** What the daemon may do with a socket it has accepted. */
export interface DaemonSocket {
  /** `taken`: the client has read it. */
  send(frame: Uint8Array, taken?: () => void): void;
  /** After what was sent; `closed` is heard once the client has closed too. */
  close(): void;
  /** Now. */
  destroy(): void;
}

/** Null: nobody listens. */
export type AcceptSocket = ((socket: DaemonSocket) => DaemonEnd) | null;

interface SentByDaemon {
  readonly frame: Uint8Array;
  readonly taken: () => void;
}

export class SimulatedSocket {
  readonly number: number;
  /** Whose it is, as the trace names it. */
  readonly owner: string;
  readonly #listener: SocketListener;
  #daemon: DaemonEnd | null = null;
  #toDaemon: Uint8Array[] = [];
  #toClient: SentByDaemon[] = [];
  #client: "opening" | "open" | "closed" = "opening";
  #daemonState: "none" | "open" | "closing" | "closed" = "none";
  #isCut = false;
  isHeld = false;

  constructor(number: number, owner: string, listener: SocketListener) {
    this.number = number;
    this.owner = owner;
    this.#listener = listener;
  }

  get isOpening(): boolean {
    return this.#client === "opening";
  }

  /** Both ends know that it is over. */
  get isOver(): boolean {
    return this.#client === "closed" && ["none", "closed"].includes(this.#daemonState);
  }

  /** How often `deliver` would move something. */
  waiting(direction: Direction): number {
    if (this.isHeld || this.isOpening) return 0;
    if (direction === "toDaemon") {
      if (this.#daemonState !== "open" && this.#daemonState !== "closing") return 0;
      return this.#toDaemon.length + (this.#isCut || this.#client === "closed" ? 1 : 0);
    }
    if (this.#client !== "open") return 0;
    return this.#toClient.length + (this.#isCut || this.#daemonState !== "open" ? 1 : 0);
  }

  /** Moves one frame, or the news that the other end is gone. */
  deliver(direction: Direction): void {
    if (this.waiting(direction) === 0) return;
    if (direction === "toDaemon") {
      const frame = this.#toDaemon.shift();
      if (frame === undefined) this.#endDaemon();
      else if (this.#daemonState === "open") this.#daemon?.received(frame);
      return;
    }
    const sent = this.#toClient.shift();
    if (sent === undefined) {
      this.#client = "closed";
      this.#listener.closed();
      return;
    }
    sent.taken();
    this.#listener.received(sent.frame);
  }

  /** The connection is made, or refused. */
  open(accept: AcceptSocket): void {
    if (this.#client !== "opening") return;
    if (accept === null) {
      this.#client = "closed";
      this.#listener.closed();
      return;
    }
    this.#client = "open";
    this.#daemonState = "open";
    this.#daemon = accept(this.#daemonEnd());
    this.#listener.opened();
  }

  /** The way between the ends is gone, with all that was on it. */
  cut(): void {
    this.#isCut = true;
    this.#toDaemon = [];
    this.#toClient = [];
  }

  /** A frame arrives twice, as from someone who listens in and plays it again. */
  repeat(direction: Direction): void {
    const [frame] = this.#toDaemon;
    const [sent] = this.#toClient;
    if (direction === "toDaemon" && frame) this.#toDaemon.unshift(frame);
    if (direction === "toClient" && sent) this.#toClient.unshift({ ...sent, taken: () => {} });
  }

  /** The daemon's process is dead: what it had sent may still arrive. */
  daemonDied(): void {
    if (this.#daemonState !== "none") this.#daemonState = "closed";
    this.#daemon = null;
    this.#toDaemon = [];
  }

  readonly clientEnd = {
    send: (frame: Uint8Array): void => {
      if (!this.#isCut) this.#toDaemon.push(frame);
    },
    close: (): void => {
      this.#client = "closed";
      for (const { taken } of this.#toClient.splice(0)) taken();
    },
  };

  #daemonEnd(): DaemonSocket {
    return {
      send: (frame, taken = () => {}) => {
        if (this.#daemonState !== "open") return;
        if (this.#isCut || this.#client === "closed") taken();
        else this.#toClient.push({ frame, taken });
      },
      close: () => {
        if (this.#daemonState === "open") this.#daemonState = "closing";
      },
      destroy: () => {
        if (this.#daemonState === "open" || this.#daemonState === "closing") this.#endDaemon();
      },
    };
  }

  #endDaemon(): void {
    this.#daemonState = "closed";
    this.#toDaemon = [];
    const daemon = this.#daemon;
    this.#daemon = null;
    daemon?.closed();
  }
}

export class SimulatedNetwork {
  #sockets: SimulatedSocket[] = [];
  #lastNumber = 0;

  get sockets(): readonly SimulatedSocket[] {
    this.#sockets = this.#sockets.filter((socket) => !socket.isOver);
    return this.#sockets;
  }

  socketsOf(owner: string): OpenSocket {
    return (listener) => {
      this.#lastNumber += 1;
      const socket = new SimulatedSocket(this.#lastNumber, owner, listener);
      this.#sockets.push(socket);
      return socket.clientEnd;
    };
  }
}
