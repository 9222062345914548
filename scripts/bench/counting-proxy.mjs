// Stands between a browser and the daemon and counts the bytes of each response as they are on the
// wire, gzip at best, so that requests of workers count like those of the page; of a WebSocket, all that
// the daemon sends.

import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { portOf } from "./daemon.mjs";

/** What a browser says a script is for; a service worker's precaching has none of these. */
const SCRIPT_USES = ["script", "worker", "sharedworker"];

/** @param {number} daemonPort */
export async function startCountingProxy(daemonPort) {
  const daemonHost = `127.0.0.1:${daemonPort}`;
  /** @type {{ path: string, use: string, bytes: number }[]} */
  const responses = [];
  /** @type {{ openedAt: number, bytes: number }[]} */
  const sockets = [];

  let isCut = false;
  const server = createServer((asked, answer) => {
    if (isCut) {
      answer.destroy();
      return;
    }
    const headers = { ...asked.headers, host: daemonHost };
    if (headers["accept-encoding"]) headers["accept-encoding"] = "gzip";
    const { method, url } = asked;
    const passed = request({ host: "127.0.0.1", port: daemonPort, method, path: url, headers });
    passed.on("response", (response) => {
      const entry = { path: url ?? "", use: String(asked.headers["sec-fetch-dest"]), bytes: 0 };
      responses.push(entry);
      response.on("data", (chunk) => {
        entry.bytes += chunk.length;
      });
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    passed.on("error", () => answer.destroy());
    asked.pipe(passed);
  });
  server.on("upgrade", (asked, socket, head) => {
    if (isCut) {
      socket.destroy();
      return;
    }
    const upstream = connect(daemonPort, "127.0.0.1");
    const entry = { openedAt: Date.now(), bytes: 0 };
    sockets.push(entry);
    upstream.on("data", (chunk) => {
      entry.bytes += chunk.length;
    });
    const headers = { ...asked.headers, host: daemonHost, origin: `http://${daemonHost}` };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    upstream.write(`GET ${asked.url} HTTP/1.1\r\n${lines.join("")}\r\n`);
    upstream.write(head);
    upstream.pipe(socket).pipe(upstream);
    for (const end of [socket, upstream]) {
      end.on("error", () => {
        socket.destroy();
        upstream.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${portOf(server)}`,
    /** The scripts that page and workers have fetched so far. */
    scripts: () => responses.filter(({ use }) => SCRIPT_USES.includes(use)),
    /** From now on whoever comes is sent away, until `restore`. */
    cut: () => {
      isCut = true;
    },
    restore: () => {
      isCut = false;
    },
    /** WebSockets in the order opened, with the time since the epoch. */
    sockets: () => sockets,
    forget: () => {
      responses.length = 0;
      sockets.length = 0;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
