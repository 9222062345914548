// One stream to many connections: how long from the model's chunk until each of them has it, and what one
// reader that does not read changes for the others.

import { writeChangedRows } from "./changed-rows.mjs";
import { dataDirOf, makePlace, removePlace, startDaemon } from "./daemon.mjs";
import { loadSource } from "./load-source.mjs";
import { buildStampingDaemon } from "./stamping-daemon.mjs";
import { nowMs, STAMPING_MODEL } from "./stamping-providers.mjs";

const CONNECTIONS = 200;
const ROUNDS = 7;
const ROUND_MS = 2_500;
const STALLING_MS = 1_500;
/** With fewer it was no stream. */
const CHUNKS_MIN = 20;
/** More than a connection takes in at once: whoever reads none of it is behind. */
const ROWS_BEFORE = 4_000;

const { fetchDaemonKey, freshId, makeDeviceKeys, openWire } = await loadSource(
  "server/testing/wire-client.ts",
);

export async function run() {
  const program = await buildStampingDaemon();
  const place = await makePlace();
  const first = await startDaemon(place, { program });
  await first.stop();
  await writeChangedRows({ dataDir: dataDirOf(place), seed: 3, count: ROWS_BEFORE });
  const daemon = await startDaemon(place, { program });
  try {
    return await measure(daemon, place.home);
  } finally {
    await daemon.stop();
    removePlace(place);
  }
}

async function measure(daemon, workingDir) {
  const around = {
    origin: daemon.origin,
    daemonKey: await fetchDaemonKey(daemon.origin),
    keys: makeDeviceKeys(),
  };
  const enrolment = { kind: "launch", secret: daemon.launchLink.replace(/^.*#enrol=/, "") };
  const sender = await openReader(around, { enrolment });
  await sender.caughtUp;
  const position = sender.position();
  const readers = [sender];
  while (readers.length < CONNECTIONS) readers.push(await openReader(around, { position }));
  await round(readers, workingDir);
  const alone = [];
  const beside = [];
  for (let number = 0; number < ROUNDS; number += 1) {
    alone.push(await round(readers, workingDir));
    const stalled = await openReader(around, { isStalled: true });
    // Until it has been sent what it takes in.
    await new Promise((resolve) => setTimeout(resolve, STALLING_MS));
    beside.push(await round(readers, workingDir, stalled));
    stalled.wire.cut();
    await stalled.wire.ended;
  }
  const [p99, p99Beside] = [median(alone), median(beside)];
  return [
    {
      metric: `chunk to ${CONNECTIONS} connections, p99`,
      value: round1(p99),
      unit: "ms",
      target: 50,
    },
    {
      metric: "the same beside a stalled reader, p99",
      value: round1(p99Beside),
      unit: "ms",
      target: 50,
    },
    {
      metric: "p99 beside a stalled reader / without",
      value: Number((p99Beside / p99).toFixed(2)),
      unit: "×",
      target: 1.1,
    },
  ];
}

/**
 * Has one session stream while all read it; resolves with the p99.
 * @param {any} stalled
 */
async function round(readers, workingDir, stalled = null) {
  const [sender] = readers;
  const sessionId = freshId();
  await sender.command("session.create", { workingDir, model: STAMPING_MODEL }, sessionId);
  for (const { watch } of readers) watch(sessionId);
  stalled?.watch(sessionId);
  const ended = readers.map(({ whenDone }) => whenDone());
  await sender.command("session.prompt", { sessionId, text: String(ROUND_MS) });
  await Promise.all(ended);
  const taken = readers.map(({ take }) => take());
  if (taken.some(({ text }) => text !== taken[0]?.text)) throw new Error("Not all read the same");
  const all = taken.flatMap(({ delays }) => delays).sort((a, b) => a - b);
  const perReader = all.length / readers.length;
  if (perReader < CHUNKS_MIN) throw new Error(`Only ${perReader} chunks came to each`);
  return all[Math.floor(all.length * 0.99)] ?? 0;
}

/** @param {any} around
 * @param {{ enrolment?: unknown, position?: any, isStalled?: boolean }} how */
async function openReader(around, { enrolment = null, position = null, isStalled = false } = {}) {
  let state = position ?? { epoch: null, cursor: 0, token: null };
  let lastCall = 0;
  let watched = "";
  let text = "";
  let delays = [];
  let done = () => {};
  let reached = () => {};
  const caughtUp = new Promise((resolve) => {
    reached = () => resolve(undefined);
  });
  const asked = new Map();
  const hearChunk = ({ offset, text: chunk }) => {
    const now = nowMs();
    if (offset !== text.length) throw new Error(`A chunk at ${offset} came after ${text.length}`);
    text += chunk;
    for (const stamp of chunk.split("\n")) if (stamp !== "") delays.push(now - Number(stamp));
  };
  const hear = (message) => {
    if (message.type === "live" && message.event.type === "turn.chunk") hearChunk(message.event);
    if (message.type === "welcome") {
      state = { ...state, epoch: message.epoch };
      if (message.head === state.cursor) reached();
    }
    if (message.type === "page") {
      state = { ...state, cursor: message.upto, token: message.token };
      wire.send({ type: "ack", cursor: message.upto, token: message.token });
      if (message.more === 0) reached();
      // What was not sent as a chunk yet comes with the turn's row.
      for (const { kind, sessionId, row } of message.changes) {
        if (sessionId !== watched || kind !== "turn" || row?.state !== "done") continue;
        hearChunk({ offset: text.length, text: row.answer.head.slice(text.length) });
      }
      if (message.changes.some(({ kind, row }) => kind === "request" && row?.state === "done"))
        done();
    }
    if (message.type === "result") asked.get(message.id)?.resolve(message.value);
    if (message.type === "failure") asked.get(message.id)?.reject(new Error(message.error.message));
  };
  const wire = await openWire({ ...around, deviceName: "A reader", enrolment, hear });
  let fail = (_error) => {};
  const failed = new Promise((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => {}); // Whoever waits for something of this reader hears of it.
  void wire.ended.then((wrong) => fail(wrong ?? new Error("A reader was hung up on")));
  if (isStalled) wire.pause();
  const scope = { days: null, except: [] };
  wire.send({ type: "hello", ...state, scope, packings: ["deflate-raw"] });
  return {
    wire,
    caughtUp,
    position: () => state,
    watch(sessionId) {
      watched = sessionId;
      wire.send({ type: "watch", sessionId, at: null });
    },
    whenDone: () =>
      Promise.race([
        failed,
        new Promise((resolve) => {
          done = () => resolve(undefined);
        }),
      ]),
    take() {
      const taken = { text, delays };
      text = "";
      delays = [];
      return taken;
    },
    command: (method, params, commandId = freshId()) =>
      new Promise((resolve, reject) => {
        lastCall += 1;
        asked.set(lastCall, { resolve, reject });
        wire.send({ type: "call", id: lastCall, commandId, method, params });
      }),
  };
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
const round1 = (value) => Number(value.toFixed(1));
