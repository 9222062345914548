// Writes rows as a daemon would have, into its own store while it does not run: sessions with their
// requests, turns and tool results, of words that repeat about as much as people's and models' do.

import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { loadSource } from "./load-source.mjs";

/** Rows of one request: itself, two turns and two tool results. */
const ROWS_PER_REQUEST = 5;
const REQUESTS_PER_SESSION = 100;
const ROWS_PER_COMMIT = 500;
const WORDS = 6_000;

const store = await loadSource("server/store/sqlite-store.ts");
const { makeSeededRandom } = await loadSource("server/testing/seeded-random.ts");

/**
 * Adds `count` rows, each to be found by the seed.
 * @param {{ dataDir: string, seed: number, count: number }} options
 * @returns {Promise<{ changes: any[] }>} what a device that had all rows before is to be sent
 */
export async function writeChangedRows({ dataDir, seed, count }) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const opened = await store.openSqliteStore({
    path: join(dataDir, "troupe.db"),
    clock: { now: () => Date.now(), after: () => () => {} },
    randomBytes,
    log: { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} },
  });
  try {
    const before = opened.head;
    const rows = [...rowsOf(makeWriter(seed), count)];
    for (let at = 0; at < rows.length; at += ROWS_PER_COMMIT) {
      await opened.write(async (tx) => {
        for (const { kind, sessionId, id, row } of rows.slice(at, at + ROWS_PER_COMMIT)) {
          void tx.put(kind, sessionId, id, row);
        }
      });
    }
    const changes = rows.map((row, index) => ({ rev: before + 1 + index, ...row }));
    if (opened.head !== before + count)
      throw new Error(`${opened.head - before} rows, not ${count}`);
    return { changes };
  } finally {
    await opened.close();
  }
}

function* rowsOf(writer, count) {
  let sessionId = "";
  for (let row = 0, request = 0; row < count; request += 1) {
    if (request % REQUESTS_PER_SESSION === 0) {
      sessionId = writer.id();
      yield { kind: "session", sessionId, id: sessionId, row: sessionRow(writer) };
      row += 1;
    }
    const seq = (request % REQUESTS_PER_SESSION) + 1;
    for (const made of requestRows(writer, sessionId, seq).slice(0, count - row)) {
      yield made;
      row += 1;
    }
  }
}

function requestRows(writer, sessionId, seq) {
  const id = writer.id();
  /** @type {{ kind: string, sessionId: string, id: string, row: object }[]} */
  const rows = [{ kind: "request", sessionId, id, row: requestRow(writer, seq) }];
  for (const turnId of [2 * seq - 1, 2 * seq]) {
    const callId = `call_${writer.id()}`;
    const result = { ...resultRow(writer), turnId, callId };
    const row = turnRow(writer, { requestId: id, callId });
    rows.push({ kind: "turn", sessionId, id: String(turnId), row });
    rows.push({ kind: "toolResult", sessionId, id: `${turnId}/${callId}`, row: result });
  }
  if (rows.length !== ROWS_PER_REQUEST) throw new Error(`${rows.length} rows for a request`);
  return rows;
}

const body = (text) => ({ head: text, size: Buffer.byteLength(text), blob: null });
const usage = (writer) => ({
  inputTokens: writer.number(40_000),
  outputTokens: writer.number(2_000),
  cachedTokens: writer.number(30_000),
});

const sessionRow = (writer) => ({
  title: writer.text(40),
  titled: true,
  workingDir: `/home/ada/${writer.word()}`,
  shownDir: `~/${writer.word()}`,
  branch: "main",
  model: "anthropic/claude-sonnet",
  account: null,
  parentId: null,
  pinned: false,
  archivedAt: null,
  createdAt: writer.time(),
  modifiedAt: writer.time(),
  state: "idle",
  toolGroups: [],
  turnCount: 2 * REQUESTS_PER_SESSION,
  usage: usage(writer),
});

const requestRow = (writer, seq) => ({
  seq,
  kind: "prompt",
  text: body(writer.text(40 + writer.number(400))),
  sentBy: null,
  state: "done",
  undone: false,
  createdAt: writer.time(),
  startedAt: writer.time(),
  endedAt: writer.time(),
  error: null,
});

const turnRow = (writer, { requestId, callId }) => ({
  requestId,
  createdAt: writer.time(),
  endedAt: writer.time(),
  state: "done",
  model: "anthropic/claude-sonnet",
  answer: body(writer.text(512 + writer.number(3_584))),
  reasoning: body(writer.text(writer.number(800))),
  reasoningMs: writer.number(9_000),
  calls: [
    {
      callId,
      name: "read",
      arguments: JSON.stringify({ path: `src/${writer.word()}/${writer.word()}.ts` }),
      description: `Read ${writer.word()}.ts`,
      state: "done",
    },
  ],
  usage: usage(writer),
  error: null,
});

const resultRow = (writer) => ({
  name: "read",
  description: `Read ${writer.word()}.ts`,
  note: null,
  output: body(writer.text(200 + writer.number(3_800))),
  isError: false,
  durationMs: writer.number(900),
});

/** The same words for the same seed; some of them often, most of them rarely. */
function makeWriter(seed) {
  const random = makeSeededRandom(seed);
  const vocabulary = Array.from({ length: WORDS }, () => spell(random));
  const word = () => vocabulary[Math.floor(WORDS * (random.below(1e6) / 1e6) ** 3)] ?? "";
  return {
    word,
    number: random.below,
    time: () => 1_790_000_000_000 + random.below(1e9),
    id: () => Array.from({ length: 22 }, () => letter(random)).join(""),
    /** Of about `length` characters. */
    text(length) {
      const words = [];
      for (let written = 0; written < length; written += (words.at(-1) ?? "").length + 1) {
        const ending = random.oneIn(12) ? ".\n" : random.oneIn(12) ? "," : "";
        words.push(word() + ending);
      }
      return words.join(" ");
    },
  };
}

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
const letter = (random) => LETTERS[random.below(LETTERS.length)];

function spell(random) {
  const syllable = () => random.pick([..."bcdfghklmnprstvw"]) + random.pick([..."aeiou"]);
  return Array.from({ length: 1 + random.below(4) }, syllable).join("");
}
