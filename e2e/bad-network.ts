// A network that misbehaves on command, between a browser and a daemon: cuts, goes silent without
// closing anything, comes back. It moves bytes and knows nothing of what they mean, except that it
// puts the daemon's port where a browser names the proxy's: the gate answers only to its own.

import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface BadNetwork {
  readonly origin: string;
  /** A link of the daemon, as one through here. */
  through(link: string): string;
  /** Ends what is open and refuses what comes, until `restore`. */
  cut(): void;
  restore(): void;
  /** What is open stays open and moves nothing any more, without a word. What comes later works. */
  stall(): void;
  dispose(): Promise<void>;
}

interface Wire {
  readonly browser: Socket;
  readonly daemon: Socket;
}

export async function makeBadNetwork(daemonPort: number): Promise<BadNetwork> {
  const wires = new Set<Wire>();
  let isCut = false;
  const server = createServer((browser) => {
    if (isCut) {
      browser.destroy();
      return;
    }
    const wire = { browser, daemon: connect(daemonPort, "127.0.0.1") };
    wires.add(wire);
    join(wire, () => portOf(server), daemonPort);
    browser.once("close", () => wires.delete(wire));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = portOf(server);

  const endAll = (): void => {
    for (const { browser, daemon } of wires) {
      browser.destroy();
      daemon.destroy();
    }
  };
  return {
    origin: `http://127.0.0.1:${port}`,
    through: (link) => link.replace(`127.0.0.1:${daemonPort}`, `127.0.0.1:${port}`),
    cut() {
      isCut = true;
      endAll();
    },
    restore() {
      isCut = false;
    },
    stall() {
      for (const { browser, daemon } of wires) {
        browser.removeAllListeners("data").pause();
        daemon.removeAllListeners("data").pause();
      }
    },
    async dispose() {
      endAll();
      server.close();
      await once(server, "close");
    },
  };
}

function join({ browser, daemon }: Wire, port: () => number, daemonPort: number): void {
  const named = `127.0.0.1:${port()}\r\n`;
  browser.on("data", (bytes) => {
    const text = bytes.toString("latin1");
    const isForDaemon = text.includes(named);
    daemon.write(
      isForDaemon
        ? Buffer.from(text.replaceAll(named, `127.0.0.1:${daemonPort}\r\n`), "latin1")
        : bytes,
    );
  });
  daemon.on("data", (bytes) => browser.write(bytes));
  for (const [one, other] of [
    [browser, daemon],
    [daemon, browser],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return address.port;
}
