// What must hold once a world is healed: every device and page shows what the daemon holds, every
// accepted prompt ran once, and no text differs from what was said.

import { EVERYTHING, type Store } from "../../server/store/store.ts";
import { isPresent, type PresentChange } from "../../shared/feed/apply-page.ts";
import type { SessionId } from "../../shared/ids.ts";
import { type Change, isBodyKind, type RequestRow } from "../../shared/protocol/rows.ts";
import { streamKey } from "./history.ts";
import type { SimulatedDevice } from "./simulated-device.ts";
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
    if (page.state?.kind !== "live") {
      world.accuse(`${page.name} is not live: ${JSON.stringify(page.state)}`);
    }
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
    const visible = visibleTo(device, truth);
    const { marks } = replica;
    const isKept = ({ kind, sessionId }: Change) =>
      !isBodyKind(kind) || sessionId === null || !marks.has(sessionId);
    compare(world, name, only(replica.rows, isKept), only(visible, isKept));
    for (const sessionId of marks.keys()) {
      const key = rowKey("session", sessionId, sessionId);
      if (truth.rows.has(key) && !visible.has(key)) {
        world.accuse(`[F9] ${name} leaves out ${sessionId}, which it may not see`);
      }
    }
    const { cursor, epoch } = replica.stored;
    // What a device may not see, or leaves out, moves its cursor only now and then.
    const isPartial = marks.size > 0 || visible.size < truth.rows.size;
    if (cursor !== store.head && !isPartial) {
      world.accuse(`[F2] ${name} is at ${cursor} of ${store.head}`);
    }
    if (epoch !== store.epoch) world.accuse(`[F4] ${name} is of another epoch`);
    judgeOutbox(world, device);
    for (const page of device.pages) judgePage(world, device, page, visible);
  }
  judgePresence(world, truth);
  judgeHistory(world, truth);
  await judgeCommands(world, truth);
  await judgeTexts(world, truth);
}

/** With room for everything, everything is there, and nothing waits to be read by somebody. */
export function judgeWholeness({ devices, accuse }: World): void {
  for (const { name, replica, pages } of devices) {
    const isHere = (id: SessionId) => replica.rows.has(rowKey("session", id, id));
    const leftOut = [...replica.marks.keys()].filter(isHere);
    if (leftOut.length > 0) accuse(`[F9] ${name} leaves out ${leftOut}`);
    if (replica.outboxEntries.size > 0) {
      accuse(`the outbox of ${name} still holds ${replica.outboxEntries.size}`);
    }
    for (const page of pages) {
      for (const [sessionId, { isThere, isWhole }] of page.open) {
        const isDeleted = !page.rows.has(rowKey("session", sessionId, sessionId));
        if (isThere && !isWhole && !isDeleted)
          accuse(`${page.name} shows ${sessionId} as not whole`);
      }
    }
  }
}

/** What is left there was refused, and is kept until somebody has read that. */
function judgeOutbox({ history, commands, accuse }: World, device: SimulatedDevice): void {
  const { name, replica, hadLittleRoom } = device;
  for (const { state, method, commandId } of replica.outboxEntries.values()) {
    // Where there was no room to say so, it is sent again one day, and refused again.
    const isRefused = state === "refused" || (hadLittleRoom && history.refused.has(commandId));
    if (!isRefused) {
      accuse(`[F5] the outbox of ${name} still holds ${method} ${commandId} as ${state}`);
    } else if (
      history.answered.has(commandId) &&
      !commands.get(commandId)?.isExcused &&
      // An engine that lost its lead may still send what another has amended, sent and seen act.
      !device.hadSecondEngine
    ) {
      accuse(`[F5] ${method} ${commandId} acted and is refused in the outbox of ${name}`);
    }
  }
}

const only = (
  rows: ReadonlyMap<string, Change>,
  isWanted: (change: Change) => boolean,
): Map<string, Change> => new Map([...rows].filter(([, change]) => isWanted(change)));

/** F9: an owner sees all; a viewer itself and the sessions it was granted, but no shares or grants. */
function visibleTo({ id: deviceId }: SimulatedDevice, { rows }: Truth): Map<string, Change> {
  const own = rows.get(rowKey("device", null, String(deviceId)));
  if (own?.kind !== "device" || own.row.role !== "viewer") return new Map(rows);
  return only(rows, ({ kind, sessionId, id }) => {
    if (sessionId === null) return id === deviceId;
    if (kind === "share" || kind === "grant") return false;
    return rows.has(rowKey("grant", sessionId, String(deviceId)));
  });
}

/** Who looks on is known to all who have the session open, but for viewers, who are told of nobody. */
function judgePresence({ devices, accuse }: World, truth: Truth): void {
  for (const device of devices) {
    const own = truth.rows.get(rowKey("device", null, String(device.id)));
    if (own?.kind !== "device" || own.row.role !== "owner") continue;
    for (const page of device.pages) {
      for (const sessionId of page.open.keys()) {
        if (!truth.rows.has(rowKey("session", sessionId, sessionId))) continue;
        const looking = devices.filter(
          (other) =>
            other !== device &&
            other.pages.some(({ seen }) => seen === sessionId) &&
            visibleTo(other, truth).has(rowKey("session", sessionId, sessionId)),
        );
        const expected = looking.map(({ id }) => String(id)).sort();
        const told = [...(page.lookers.get(sessionId) ?? [])].map(String).sort();
        if (told.join() !== expected.join()) {
          accuse(
            `${page.name} was told that ${told.length} look at ${sessionId}, which ${expected.length} do`,
          );
        }
      }
    }
  }
}

async function readTruth(store: Store): Promise<Truth> {
  const rows = new Map<string, PresentChange>();
  const deleted = new Set<string>();
  for (let after = 0; ; ) {
    const page = await store.page(after, EVERYTHING);
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
    // What a viewer is granted comes under the rev of its grant.
    else if (!isSame(change.row, real.row)) {
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

function judgePage(
  world: World,
  { replica }: SimulatedDevice,
  page: SimulatedPage,
  visible: ReadonlyMap<string, Change>,
): void {
  const isShown = ({ kind, sessionId }: Change): boolean =>
    !isBodyKind(kind) ||
    (sessionId !== null && page.open.has(sessionId) && !replica.marks.has(sessionId));
  const shown = only(page.rows, isShown);
  const isWhole = [...page.open.values()].every(({ hasEarlier }) => !hasEarlier);
  const real = new Map(
    [...visible].filter(([key, row]) => isShown(row) && (isWhole || shown.has(key))),
  );
  compare(world, page.name, shown, real);
  for (const key of page.texts.keys()) world.accuse(`[F1] ${page.name} still paints ${key}`);
  const waiting = page.outbox.filter(({ state }) => state !== "refused");
  if (waiting.length > 0) world.accuse(`${page.name} shows ${waiting.length} as waiting`);
}

function judgeHistory({ history, accuse }: World, truth: Truth): void {
  for (const [key, { rev, sessionId, isGone }] of history.rows) {
    if (sessionId !== null && truth.deleted.has(sessionId)) continue;
    const real = truth.rows.get(key);
    if (real === undefined && isGone) continue;
    if (real === undefined) accuse(`[F8] ${key} was sent and is lost`);
    else if (real.rev < rev) accuse(`[F8] ${key} fell back from rev ${rev} to ${real.rev}`);
  }
}

async function judgeCommands(world: World, truth: Truth): Promise<void> {
  const { history, accuse } = world;
  const alive = new Set(world.devices.flatMap(({ pages }) => pages));
  const requests = new Map<string, RequestRow>();
  for (const { kind, id, row } of truth.rows.values())
    if (kind === "request") requests.set(id, row);
  for (const command of world.commands.values()) {
    const { commandId, method, device, page, answer, isExcused, isWithdrawn, isGivenUp, params } =
      command;
    // Where several engines wrote, one takes commands over: their page may hear how they first ended.
    const isAlone = !device.hadSecondEngine;
    if (answer === null && isAlone && alive.has(page) && !isGivenUp) {
      accuse(`${page.name} was never told of ${commandId}`);
    }
    const request = requests.get(commandId);
    const isAsking = method === "session.prompt" || method === "session.continue";
    const isDeleted = truth.deleted.has(params.sessionId ?? "");
    if (isAsking && history.answered.has(commandId) && request === undefined && !isDeleted) {
      accuse(`[F5] prompt ${commandId} was accepted and is lost`);
    }
    if (isWithdrawn && isAlone && !isExcused && request !== undefined) {
      accuse(`[F5] ${method} ${commandId} was withdrawn and acted`);
    }
    if (method === "session.prompt" && request !== undefined && !isExcused) {
      const text = await truth.store.wholeText(request.text);
      if (text !== params.text && !command.maySay.has(text))
        accuse(`[F5] ${commandId} says another text than it was given last`);
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
