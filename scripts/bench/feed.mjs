// What a page of the feed costs, in a feed that grows a thousandfold.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSource } from "./load-source.mjs";

const SIZES = [1_000, 10_000, 100_000, 1_000_000];
const ROWS_PER_SESSION = 500;
const ROWS_PER_COMMIT = 5_000;
const BEHIND = 100;
const RUNS = 101;

const { openSqliteStore } = await loadSource("server/store/sqlite-store.ts");
const { EVERYTHING } = await loadSource("server/store/store.ts");
const { sampleSession, sampleSessionId, sampleTurn, plainText } = await loadSource(
  "server/testing/sample-rows.ts",
);

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "troupe-feed-"));
  const feeds = [];
  try {
    for (const size of SIZES) {
      const store = await open(join(folder, `${size}.db`));
      const feed = { store, behind: [], fresh: [] };
      feeds.push(feed);
      await growTo(store, size);
    }
    // In turn, so that whatever else the machine does befalls all of them.
    for (let round = 0; round < RUNS; round += 1) {
      for (const { store, behind, fresh } of feeds) {
        behind.push(await cost(store, store.head - BEHIND));
        fresh.push(await cost(store, 0));
      }
    }
    return [
      ...results(
        `a device ${BEHIND} rows behind`,
        feeds.map(({ behind }) => median(behind)),
      ),
      ...results(
        "a fresh device",
        feeds.map(({ fresh }) => median(fresh)),
      ),
    ];
  } finally {
    for (const { store } of feeds) await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const open = (path) =>
  openSqliteStore({
    path,
    clock: { now: () => Date.now(), after: () => () => {} },
    randomBytes,
    log: { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} },
  });

function results(who, costs) {
  const [least = 0] = costs;
  const most = costs.at(-1) ?? 0;
  return [
    ...SIZES.map((size, index) => ({
      metric: `page for ${who}, of ${size} rows, median`,
      value: Number((costs[index] ?? 0).toFixed(3)),
      unit: "ms",
      target: null,
    })),
    {
      metric: `page for ${who}: of ${SIZES.at(-1)} rows / of ${SIZES[0]}`,
      value: Number((most / least).toFixed(2)),
      unit: "×",
      target: 1.5,
    },
  ];
}

async function growTo(store, size) {
  while (store.head < size) {
    const [first, end] = [store.head, Math.min(size, store.head + ROWS_PER_COMMIT)];
    await store.write(async (tx) => {
      for (let at = first; at < end; at += 1) {
        const sessionId = sampleSessionId(String(Math.floor(at / ROWS_PER_SESSION)));
        const id = at % ROWS_PER_SESSION;
        if (id === 0) await tx.put("session", sessionId, sessionId, sampleSession());
        else await tx.put("turn", sessionId, String(id), turn(at));
      }
    });
  }
}

const turn = (at) => sampleTurn({ answer: plainText(`Row ${at} says ${"something ".repeat(15)}`) });

async function cost(store, after) {
  const begun = performance.now();
  const { changes } = await store.page(after, EVERYTHING);
  const taken = performance.now() - begun;
  if (changes.length < BEHIND) throw new Error(`A page of ${changes.length} rows`);
  return taken;
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
