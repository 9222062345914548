// A real transport on a free port for tests: everyone is let in unless the test says otherwise.

import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { deviceIdOf } from "../feed/devices.ts";
import type { Connection } from "../transport/connection.ts";
import { startTransport, type Transport, type TransportOptions } from "../transport/transport.ts";
import { type FakeClock, makeFakeClock } from "./fake-clock.ts";
import { silentLog } from "./silent-log.ts";
import { makeKeys } from "./socket-client.ts";

/** What reached those above the transport, in order. */
export interface Accepted {
  readonly connection: Connection;
  readonly messages: unknown[];
  readonly undecodable: string[];
  readonly closed: Promise<void>;
  /** The next message that is not in `messages` yet when this is called. */
  nextMessage(): Promise<unknown>;
}

export interface RunningTransport {
  readonly transport: Transport;
  readonly clock: FakeClock;
  readonly folder: string;
  readonly accepted: Accepted[];
  /** The `index`th connection that was accepted. */
  whenAccepted(index: number): Promise<Accepted>;
}

export async function runTransport(
  options: Partial<TransportOptions> & { files?: Record<string, string> } = {},
): Promise<RunningTransport> {
  const { files = { "index.html": "<title>Troupe</title>" }, ...rest } = options;
  const folder = await mkdtemp(join(tmpdir(), "troupe-transport-"));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, "web", name)), { recursive: true });
    await writeFile(join(folder, "web", name), content);
  }
  const clock = makeFakeClock();
  const accepted: Accepted[] = [];
  let toldAccepted = () => {};
  const transport = await startTransport({
    host: "127.0.0.1",
    port: 0,
    names: [],
    filesDir: join(folder, "web"),
    unixSocketPath: null,
    daemonName: "testbed",
    daemonVersion: "1.2.3",
    staticKeys: makeKeys(),
    randomBytes,
    admit: async (publicKey) => ({
      outcome: "admitted",
      version: 1,
      deviceId: deviceIdOf(publicKey),
      role: "owner",
    }),
    accept(connection) {
      const { entry, handler } = record(connection);
      accepted.push(entry);
      toldAccepted();
      return handler;
    },
    metrics: () => "troupe_connections 0\n",
    isReady: () => true,
    clock,
    log: silentLog,
    ...rest,
  });
  onTestFinished(async () => {
    const closed = transport.shutDown(0);
    await clock.advance(0);
    await closed;
    await rm(folder, { recursive: true, force: true });
  });
  return {
    transport,
    clock,
    folder,
    accepted,
    async whenAccepted(index) {
      for (;;) {
        const entry = accepted[index];
        if (entry) return entry;
        await new Promise<void>((resolve) => {
          toldAccepted = resolve;
        });
      }
    },
  };
}

function record(connection: Connection) {
  const messages: unknown[] = [];
  const undecodable: string[] = [];
  let toldMessage = (_message: unknown) => {};
  let closed = () => {};
  const entry: Accepted = {
    connection,
    messages,
    undecodable,
    closed: new Promise((resolve) => {
      closed = resolve;
    }),
    nextMessage: () =>
      new Promise((resolve) => {
        toldMessage = resolve;
      }),
  };
  const handler = {
    message(message: unknown) {
      messages.push(message);
      toldMessage(message);
    },
    undecodable(reason: string) {
      undecodable.push(reason);
      toldMessage(reason);
    },
    closed: () => closed(),
  };
  return { entry, handler };
}
