// Another device of the daemon's owner, which is no browser: it hears the feed, and works while the
// browser is away.

import { loadSource } from "./load-source.mjs";

const { fetchDaemonKey, freshId, makeDeviceKeys, openWire } = await loadSource(
  "server/testing/wire-client.ts",
);

/** Resolves once it has been sent every row there is. */
export async function connectAnother({ origin, freshLink }) {
  const secret = new URL(await freshLink()).hash.replace("#enrol=", "");
  const asked = new Map();
  /** What each session does, as of the last page. */
  const states = new Map();
  let caughtUp = () => {};
  const whole = new Promise((resolve) => {
    caughtUp = () => resolve(undefined);
  });
  const hear = (message) => {
    if (message.type === "result") asked.get(message.id)?.resolve(message.value);
    if (message.type === "failure") asked.get(message.id)?.reject(new Error(message.error.message));
    if (message.type !== "page") return;
    for (const { kind, sessionId, row } of message.changes) {
      if (kind === "session") states.set(sessionId, row?.state);
    }
    if (message.more === 0) caughtUp();
  };
  const daemonKey = await fetchDaemonKey(origin);
  const keys = makeDeviceKeys();
  const enrolment = { kind: "launch", secret };
  const wire = await openWire({ origin, daemonKey, keys, deviceName: "Another", enrolment, hear });
  const scope = { days: null, except: [] };
  const nothing = { epoch: null, cursor: 0, token: null };
  wire.send({ type: "hello", ...nothing, scope, packings: ["deflate-raw"] });
  await whole;
  let id = 0;
  return {
    /** Resolves once nothing runs or waits in these sessions, and the feed has said so. */
    async idle(sessionIds) {
      do await new Promise((resolve) => setTimeout(resolve, 100));
      while (sessionIds.some((sessionId) => states.get(sessionId) !== "idle"));
    },
    /** Resolves with a command's answer. */
    call(method, params) {
      id += 1;
      wire.send({ type: "call", id, commandId: freshId(), method, params });
      return new Promise((resolve, reject) => asked.set(id, { resolve, reject }));
    },
    leave: () => wire.cut(),
  };
}
