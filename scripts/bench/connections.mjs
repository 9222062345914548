// Whether the daemon keeps something of connections that are gone: its heap after many of them, held
// against its heap after some.

import { WebSocket } from "ws";
import { freePort, startDaemon } from "./daemon.mjs";
import { loadSource } from "./load-source.mjs";

const SOME = 1_000;
const MANY = 10_000;
const AT_ONCE = 8;
/** Timers of the last connections run out. */
const SETTLE_MS = 2_000;
const GROWTH_MAX_MB = 3;

const { fetchDaemonKey, makeDeviceKeys, openWire } = await loadSource(
  "server/testing/wire-client.ts",
);

export async function run() {
  const inspectPort = await freePort();
  const nodeArgs = [`--inspect=127.0.0.1:${inspectPort}`, "--inspect-publish-uid=http"];
  const daemon = await startDaemon(undefined, { nodeArgs });
  const inspector = await attach(inspectPort);
  try {
    const connect = await enrolled(daemon);
    await cycle(connect, SOME);
    const some = { heap: await inspector.heapMb(), resident: daemon.residentMb() };
    await cycle(connect, MANY - SOME);
    const many = { heap: await inspector.heapMb(), resident: daemon.residentMb() };
    const megabytes = (value) => ({ value: Number(value.toFixed(2)), unit: "MB" });
    return [
      { metric: `heap after ${SOME} connections`, ...megabytes(some.heap), target: null },
      { metric: `heap after ${MANY} connections`, ...megabytes(many.heap), target: null },
      { metric: "growth of the heap", ...megabytes(many.heap - some.heap), target: GROWTH_MAX_MB },
      { metric: `resident after ${SOME} connections`, ...megabytes(some.resident), target: null },
      { metric: `resident after ${MANY} connections`, ...megabytes(many.resident), target: null },
    ];
  } finally {
    inspector.close();
    await daemon.stop();
  }
}

/** A function that connects, says hello, hears all there is and hangs up. */
async function enrolled({ origin, launchLink }) {
  const daemonKey = await fetchDaemonKey(origin);
  const keys = makeDeviceKeys();
  /** @param {unknown} enrolment */
  const connect = async (enrolment = null) => {
    let welcomed = () => {};
    const whole = new Promise((resolve) => {
      welcomed = () => resolve(undefined);
    });
    const hear = ({ type, more, error }) => {
      if (type === "failure") throw new Error(error.message);
      if (type === "page" && more === 0) welcomed();
    };
    const wire = await openWire({ origin, daemonKey, keys, deviceName: "One", enrolment, hear });
    const nothing = { epoch: null, cursor: 0, token: null };
    const scope = { days: null, except: [] };
    wire.send({ type: "hello", ...nothing, scope, packings: ["deflate-raw"] });
    const hungUp = wire.ended.then((wrong) => {
      throw wrong ?? new Error("The daemon hung up");
    });
    await Promise.race([whole, hungUp]);
    hungUp.catch(() => {}); // From here on that is what is wanted.
    wire.cut();
    await wire.ended;
  };
  await connect({ kind: "launch", secret: launchLink.replace(/^.*#enrol=/, "") });
  return connect;
}

async function cycle(connect, count) {
  let left = count;
  const some = async () => {
    while (left > 0) {
      left -= 1;
      await connect();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, some));
}

/** Speaks to the daemon's debugger. */
async function attach(port) {
  const targets = await (await fetch(`http://127.0.0.1:${port}/json/list`)).json();
  const socket = new WebSocket(targets[0].webSocketDebuggerUrl);
  const asked = new Map();
  let lastId = 0;
  socket.on("message", (text) => {
    const { id, result } = JSON.parse(String(text));
    asked.get(id)?.(result);
  });
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  const ask = (method) =>
    new Promise((resolve) => {
      lastId += 1;
      asked.set(lastId, resolve);
      socket.send(JSON.stringify({ id: lastId, method }));
    });
  return {
    /** Of what is still reachable. */
    async heapMb() {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      for (let round = 0; round < 3; round += 1) await ask("HeapProfiler.collectGarbage");
      const { usedSize } = await ask("Runtime.getHeapUsage");
      return usedSize / 1e6;
    },
    close: () => socket.close(),
  };
}
