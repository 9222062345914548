// A browser that was away catches up 10,000 changed rows, against writing the same rows straight into
// IndexedDB from a worker of the same page; and what they take on the wire.

import { once } from "node:events";
import { createServer } from "node:http";
import { deflateRawSync } from "node:zlib";
import { connectAnother } from "./another-device.mjs";
import { launchBrowser, median, waitUntilSynced } from "./browser.mjs";
import { writeChangedRows } from "./changed-rows.mjs";
import { startCountingProxy } from "./counting-proxy.mjs";
import { dataDirOf, makePlace, portOf, removePlace, startDaemon } from "./daemon.mjs";
import { loadSource } from "./load-source.mjs";
import { writePlainly } from "./plain-writer.mjs";

const ROWS = 10_000;
const ROUNDS = 5;
const RATIO_TARGET = 1.3;
const BYTES_TARGET = 1.1;

const { encode } = await loadSource("shared/protocol/codec.ts");

export async function run() {
  const place = await makePlace();
  const browser = await launchBrowser();
  const shelf = await serveRows();
  // With no session at all the page shows another screen.
  await writeChangedRows({ dataDir: dataDirOf(place), seed: 0, count: 100 });
  let daemon = await startDaemon(place);
  const proxy = await startCountingProxy(daemon.port);
  try {
    const page = await (await browser.newContext({ bypassCSP: true })).newPage();
    await page.goto(daemon.launchLink.replace(daemon.origin, proxy.origin));
    await page.evaluate(waitUntilSynced);
    const rounds = [];
    for (let seed = 1; seed <= ROUNDS; seed += 1) {
      proxy.cut();
      await daemon.stop();
      const { changes } = await writeChangedRows({ dataDir: dataDirOf(place), seed, count: ROWS });
      daemon = await startDaemon(place);
      // A daemon at work, not one that has to be compiled first.
      (await connectAnother(daemon)).leave();
      proxy.forget();
      proxy.restore();
      const caughtUp = await catchUp(page, proxy);
      shelf.put(changes);
      const plainMs = await page.evaluate(writePlainly, shelf.origin);
      const own = deflateRawSync(Buffer.concat(changes.map((change) => encode(change)))).length;
      rounds.push({ ...caughtUp, plainMs, own });
      process.stderr.write(`${JSON.stringify(rounds.at(-1))}\n`);
    }
    return figures(rounds);
  } finally {
    shelf.stop();
    proxy.stop();
    await browser.close();
    await daemon.stop();
    removePlace(place);
  }
}

/** From the socket's opening, its handshake included, until the page says that everything is stored. */
async function catchUp(page, proxy) {
  const isAway = () => !document.querySelector(".foot .sync")?.textContent?.startsWith("Synced");
  await page.waitForFunction(isAway, undefined, { polling: 5 });
  const syncedAt = await page.evaluate(waitUntilSynced);
  const socket = proxy.sockets().at(-1);
  if (socket === undefined) throw new Error("the page opened no socket");
  return { ms: syncedAt - socket.openedAt, bytes: socket.bytes };
}

function figures(rounds) {
  const of = (name) => median(rounds.map((round) => round[name]));
  const ratio = median(rounds.map(({ ms, plainMs }) => ms / plainMs));
  const bytes = median(rounds.map((round) => round.bytes / round.own));
  const times = [
    { metric: `catching up ${ROWS} rows, median`, value: of("ms") },
    { metric: "writing them plainly, median", value: Math.round(of("plainMs")) },
  ];
  return [
    {
      metric: "catching up to writing plainly",
      value: rounded(ratio),
      unit: "×",
      target: RATIO_TARGET,
    },
    {
      metric: "bytes on the wire to the rows compressed",
      value: rounded(bytes),
      unit: "×",
      target: BYTES_TARGET,
    },
    ...times.map((time) => ({ ...time, unit: "ms", target: null })),
    { metric: "bytes on the wire, median", value: of("bytes"), unit: "bytes", target: null },
  ];
}

const rounded = (value) => Number(value.toFixed(3));

/** Where the page's worker gets the rows from, all at once and before it begins. */
async function serveRows() {
  let rows = "[]";
  const server = createServer((_, answer) => {
    answer.writeHead(200, { "access-control-allow-origin": "*" }).end(rows);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${portOf(server)}`,
    put: (changes) => {
      rows = JSON.stringify(changes);
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
