// Stands between a browser and the daemon and counts the bytes of each response as they are on the
// wire, gzip at best, so that requests of workers count like those of the page.

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

  const server = createServer((asked, answer) => {
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
    const upstream = connect(daemonPort, "127.0.0.1");
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
    forget: () => {
      responses.length = 0;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
