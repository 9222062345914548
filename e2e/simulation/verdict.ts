// What must hold once a world is healed: every device and page shows what the daemon holds, every
// accepted prompt ran once, and no text differs from what was said.

import type { Store } from "../../server/store/store.ts";
import { isPresent, type PresentChange } from "../../shared/feed/apply-page.ts";
import type { Change } from "../../shared/protocol/rows.ts";
import { streamKey } from "./history.ts";
import { rowKey, type SimulatedPage } from "./simulated-page.ts";
import type { World } from "./world.ts";

interface Truth {
  readonly store: Store;
  readonly rows: ReadonlyMap<string, PresentChange>;
  readonly deleted: ReadonlySet<string>;
}

/** While models still speak: every page that has a session open shows all that was said so far. */
export function judgeStreams(world: World): void {
  for (const page of world.devices.flatMap(({ pages }) => pages)) {
    if (page.state?.kind !== "live") world.accuse(`${page.name} is ${page.state?.kind}, not live`);
    for (const change of page.rows.values()) {
      if (change.kind !== "turn" || !page.open.has(change.sessionId)) continue;
      if (change.row.state !== "streaming") continue;
      const key = streamKey(change.sessionId, Number(change.id), "answer");
      const [shown, said] = [page.texts.get(key) ?? "", world.history.said.get(key) ?? ""];
      if (shown !== said) {
        world.accuse(`[S2] ${page.name} shows ${shown.length} of ${said.length} of ${key}`);
      }
    }
  }
}

export async function judge(world: World): Promise<void> {
  const store = world.daemon?.store;
  if (store === undefined) throw new Error("The daemon is down");
  const truth = await readTruth(store);
  for (const device of world.devices) {
    const { replica, name } = device;
    compare(world, name, replica.rows, truth.rows);
    const { cursor, epoch } = replica.stored;
    if (cursor !== store.head) world.accuse(`[F2] ${name} is at ${cursor} of ${store.head}`);
    if (epoch !== store.epoch) world.accuse(`[F4] ${name} is of another epoch`);
    const left = [...replica.outboxEntries.values()].map(({ method }) => method);
    if (left.length > 0) world.accuse(`[F5] the outbox of ${name} still holds ${left.join(", ")}`);
    for (const page of device.pages) judgePage(world, page, truth);
  }
  judgeHistory(world, truth);
  judgeCommands(world, truth);
  await judgeTexts(world, truth);
}

async function readTruth(store: Store): Promise<Truth> {
  const rows = new Map<string, PresentChange>();
  const deleted = new Set<string>();
  for (let after = 0; ; ) {
    const page = await store.page(after, { kind: "everything" });
    for (const change of page.changes) {
      if (isPresent(change)) rows.set(rowKey(change.kind, change.sessionId, change.id), change);
      else if (change.kind === "session") deleted.add(change.sessionId);
    }
    if (page.more === 0) return { store, rows, deleted };
    after = page.upto;
  }
}

function compare(
  world: World,
  who: string,
  held: ReadonlyMap<string, Change>,
  truth: ReadonlyMap<string, Change>,
): void {
  for (const [key, change] of held) {
    const real = truth.get(key);
    if (real === undefined) world.accuse(`[F4] ${who} holds ${key}, which the daemon has not`);
    else if (!isSame(change, real)) {
      world.accuse(`[F1] ${who} holds ${key} as of rev ${change.rev}, the daemon ${real.rev}`);
    }
  }
  for (const key of truth.keys()) if (!held.has(key)) world.accuse(`[F3] ${who} lacks ${key}`);
}

/** Field by field, in whatever order they come. */
const isSame = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );

function judgePage(world: World, page: SimulatedPage, truth: Truth): void {
  const isShown = ({ kind, sessionId }: Change): boolean =>
    kind === "session" || kind === "device" || (sessionId !== null && page.open.has(sessionId));
  const shown = new Map([...page.rows].filter(([, change]) => isShown(change)));
  const isWhole = [...page.open.values()].every(({ hasEarlier }) => !hasEarlier);
  const real = new Map(
    [...truth.rows].filter(([key, row]) => isShown(row) && (isWhole || shown.has(key))),
  );
  compare(world, page.name, shown, real);
  for (const key of page.texts.keys()) world.accuse(`[F1] ${page.name} still paints ${key}`);
  if (page.outbox.length > 0) world.accuse(`${page.name} shows ${page.outbox.length} as waiting`);
}

function judgeHistory({ history, accuse }: World, truth: Truth): void {
  for (const [key, { rev, sessionId }] of history.rows) {
    if (sessionId !== null && truth.deleted.has(sessionId)) continue;
    const real = truth.rows.get(key);
    if (real === undefined) accuse(`[F8] ${key} was sent and is lost`);
    else if (real.rev < rev) accuse(`[F8] ${key} fell back from rev ${rev} to ${real.rev}`);
  }
}

function judgeCommands(world: World, truth: Truth): void {
  const { history, accuse } = world;
  const commands = [...world.commands.values()];
  const requests = new Map<string, number>();
  const alive = new Set(world.devices.flatMap(({ pages }) => pages));
  for (const { kind, id } of truth.rows.values()) {
    if (kind === "request") requests.set(id, (requests.get(id) ?? 0) + 1);
  }
  for (const { commandId, method, device, page, answer, isExcused, params } of commands) {
    // A second worker takes commands over: their page may hear nothing, or how they first ended.
    const isAlone = !device.hadSecondWorker;
    if (answer === null && isAlone && alive.has(page)) {
      accuse(`${page.name} was never told of ${commandId}`);
    }
    const count = requests.get(commandId) ?? 0;
    if (count > 1) accuse(`[F5] ${commandId} made ${count} requests`);
    const isAsking = method === "session.prompt" || method === "session.continue";
    const isDeleted = truth.deleted.has(params.sessionId ?? "");
    if (isAsking && history.answered.has(commandId) && count === 0 && !isDeleted) {
      accuse(`[F5] prompt ${commandId} was accepted and is lost`);
    }
    if (answer?.kind === "failure" && isAlone && !isExcused && history.answered.has(commandId)) {
      accuse(
        `[F5] ${method} ${commandId} was said to have failed (${answer.error.code}) and acted`,
      );
    }
  }
}

async function judgeTexts({ history, accuse }: World, { store, rows }: Truth): Promise<void> {
  for (const change of rows.values()) {
    if (change.kind === "request") {
      const { state, text, kind } = change.row;
      if (state === "queued" || state === "running") accuse(`request ${change.id} is ${state}`);
      if (kind === "continue") continue;
      const begun = history.begun.get(await store.wholeText(text)) ?? 0;
      const isRun = state === "done" || state === "failed";
      if (isRun && begun !== 1) accuse(`[F5] request ${change.id} was run ${begun} times`);
    }
    if (change.kind !== "turn") continue;
    for (const part of ["answer", "reasoning"] as const) {
      const said = history.said.get(streamKey(change.sessionId, Number(change.id), part)) ?? "";
      const kept = await store.wholeText(change.row[part]);
      const isWhole = change.row.state === "interrupted" ? said.startsWith(kept) : said === kept;
      if (!isWhole)
        accuse(`[F8] turn ${change.id} keeps ${kept.length} of ${said.length} of ${part}`);
    }
  }
}
