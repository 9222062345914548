// The daemon's side of a simulated socket: the same way from the first frame to an admitted connection
// as a WebSocket takes, with real Noise, admissions and queues.

import type { Admissions, Role } from "../../server/transport/admissions.ts";
import type { Connections } from "../../server/transport/connections.ts";
import { nodeCrypto } from "../../server/transport/node-crypto.ts";
import type { QueuedConnection } from "../../server/transport/queued-connection.ts";
import type { Wire } from "../../server/transport/wire.ts";
import { HANDSHAKE_TIMEOUT_MS } from "../../shared/limits.ts";
import {
  awaitClient,
  type DaemonOpening,
  type OpenedByClient,
} from "../../shared/noise/daemon-opening.ts";
import type { KeyPair, RandomBytes } from "../../shared/noise/noise-crypto.ts";
import { NoiseError } from "../../shared/noise/noise-error.ts";
import type { SecureChannel } from "../../shared/noise/secure-channel.ts";
import { encode } from "../../shared/protocol/codec.ts";
import type { DaemonEnd } from "../../workers/testing/linked-network.ts";
import type { DaemonSocket } from "./simulated-network.ts";
import type { ClockView } from "./virtual-clock.ts";

export interface DaemonSocketOptions {
  readonly staticKeys: KeyPair;
  readonly randomBytes: RandomBytes;
  readonly admissions: Admissions;
  readonly connections: Connections;
  readonly clock: ClockView;
  /** A fault of the daemon's. */
  readonly failed: (error: unknown) => void;
}

type State =
  | { kind: "opening"; opening: DaemonOpening }
  | { kind: "deciding"; early: Uint8Array[] }
  | { kind: "connected"; channel: SecureChannel }
  | { kind: "closed" };

export function serveSocket(socket: DaemonSocket, options: DaemonSocketOptions): DaemonEnd {
  const { staticKeys, randomBytes, admissions, connections, clock, failed } = options;
  let state: State = {
    kind: "opening",
    opening: awaitClient({ crypto: nodeCrypto, randomBytes, staticKeys }),
  };
  let connection: QueuedConnection | null = null;
  /** Of whom a place is taken. */
  let placeOf: Role | null = null;
  const isClosed = () => state.kind === "closed";
  const close = () => {
    if (isClosed()) return;
    state = { kind: "closed" };
    stopDeadline();
    socket.close();
  };
  const stopDeadline = clock.after(HANDSHAKE_TIMEOUT_MS, close);

  const wireOf = (channel: SecureChannel): Wire => ({
    write(message, taken) {
      const frames = channel.seal(message);
      frames.forEach((frame, index) => {
        if (index < frames.length - 1) socket.send(frame);
        else socket.send(frame, taken);
      });
    },
    close,
    destroy: () => socket.destroy(),
  });

  async function decide({ channel, clientKey, introduction }: OpenedByClient): Promise<void> {
    const early: Uint8Array[] = [];
    stopDeadline();
    state = { kind: "deciding", early };
    const admission = await admissions.decide(clientKey, introduction);
    if (isClosed()) {
      if (admission.outcome === "admitted") admissions.leave(admission.role);
      return;
    }
    for (const frame of channel.seal(encode(admission))) socket.send(frame);
    if (admission.outcome === "refused") return close();
    const { deviceId, role } = admission;
    placeOf = role;
    connection = connections.connect({ kind: "device", deviceId, role }, wireOf(channel), true);
    if (isClosed()) return;
    state = { kind: "connected", channel };
    for (const frame of early) received(frame);
  }

  function broken(error: unknown): void {
    if (!(error instanceof NoiseError)) failed(error);
    close();
    connection?.ended();
  }

  function received(frame: Uint8Array): void {
    connection?.heard();
    try {
      if (state.kind === "opening") {
        const { frame: answer, opened } = state.opening.receive(frame);
        if (answer) socket.send(answer);
        if (opened) decide(opened).catch(broken);
      } else if (state.kind === "deciding") state.early.push(frame);
      else if (state.kind === "connected") {
        const message = state.channel.open(frame);
        if (message !== null) connection?.receive(message);
      }
    } catch (error) {
      broken(error);
    }
  }

  return {
    received,
    closed() {
      stopDeadline();
      state = { kind: "closed" };
      if (placeOf !== null) admissions.leave(placeOf);
      connection?.ended();
    },
  };
}
