// A network that misbehaves on command, between a browser and a daemon: cuts, goes silent without
// closing anything, is slow, comes back. It moves bytes and knows nothing of what they mean, except that it
// puts the daemon's port where a browser names the proxy's: the gate answers only to its own.

import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

export interface BadNetwork {
  readonly origin: string;
  /** A link of the daemon, as one through here. */
  through(link: string): string;
  /** Ends what is open and refuses what comes, until `restore`. */
  cut(): void;
  restore(): void;
  /** What is open stays open and moves nothing any more, without a word. What comes later works. */
  stall(): void;
  /** From now on bytes take this long, each way. */
  delay(ms: number): void;
  dispose(): Promise<void>;
}

interface Wire {
  readonly browser: Socket;
  readonly daemon: Socket;
}

export async function makeBadNetwork(daemonPort: number): Promise<BadNetwork> {
  const wires = new Set<Wire>();
  let isCut = false;
  let delayMs = 0;
  const server = createServer((browser) => {
    if (isCut) {
      browser.destroy();
      return;
    }
    const wire = { browser, daemon: connect(daemonPort, "127.0.0.1") };
    wires.add(wire);
    join(wire, { port: portOf(server), daemonPort, delayMs: () => delayMs });
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
    delay(ms) {
      delayMs = ms;
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

interface Ends {
  readonly port: number;
  readonly daemonPort: number;
  readonly delayMs: () => number;
}

function join({ browser, daemon }: Wire, { port, daemonPort, delayMs }: Ends): void {
  const named = `127.0.0.1:${port}\r\n`;
  const toDaemon = makeLane(daemon, delayMs);
  browser.on("data", (bytes) => {
    const text = bytes.toString("latin1");
    const isForDaemon = text.includes(named);
    toDaemon(
      isForDaemon
        ? Buffer.from(text.replaceAll(named, `127.0.0.1:${daemonPort}\r\n`), "latin1")
        : bytes,
    );
  });
  daemon.on("data", makeLane(browser, delayMs));
  for (const [one, other] of [
    [browser, daemon],
    [daemon, browser],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
}

/** Writes to `end` what it is given, in that order, however the delay changes. */
function makeLane(end: Socket, delayMs: () => number): (bytes: Buffer) => void {
  let last: Promise<void> = Promise.resolve();
  return (bytes) => {
    const due = performance.now() + delayMs();
    const before = last;
    last = (async () => {
      await before;
      const left = due - performance.now();
      if (left > 0) await setTimeout(left);
      // One that stalled takes nothing more either.
      if (end.writable && !end.isPaused()) end.write(bytes);
    })();
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");
  return address.port;
}
