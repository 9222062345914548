// What must hold after every kill, and once all is quiet, held against what a device is told that reads
// the feed from its beginning.

import { sha256Hex } from "../../server/testing/wire-client.ts";
import type { PresentChange } from "../../shared/feed/apply-page.ts";
import { STREAM_SAVE_MS } from "../../shared/limits.ts";
import type { TextBody } from "../../shared/protocol/rows.ts";
import type { FeedDevice } from "./feed-device.ts";
import { canonical, type Ledger, type SeenText } from "./ledger.ts";

/** What saving itself, and a processor that others use too, may take on top. */
const SAVE_SLACK_MS = 500;

type Row<K extends PresentChange["kind"]> = Extract<PresentChange, { kind: K }>;

const rowsOf = <K extends PresentChange["kind"]>(device: FeedDevice, kind: K): Row<K>[] =>
  [...device.rows.values()].filter((row): row is Row<K> => row.kind === kind);

/** Turns that streamed when the daemon was killed, with what of them had been seen. */
export interface Interrupted {
  readonly killedAt: number;
  readonly streams: ReadonlyMap<string, readonly SeenText[]>;
}

export function whatStreams(devices: readonly FeedDevice[], killedAt: number): Interrupted {
  const streams = new Map<string, SeenText[]>();
  for (const device of devices) {
    for (const { sessionId, id, row } of rowsOf(device, "turn")) {
      if (row.state !== "streaming") continue;
      const key = `${sessionId}/${id}/answer`;
      const seen = device.texts.get(key);
      const copy = seen && { text: seen.text, marks: [...seen.marks] };
      streams.set(key, [...(streams.get(key) ?? []), ...(copy ? [copy] : [])]);
    }
  }
  return { killedAt, streams };
}

/** Two replicas at the same cursor hold the same. */
export function compareReplicas(ledger: Ledger, device: FeedDevice, auditor: FeedDevice): void {
  for (const [key, row] of device.rows) {
    const real = auditor.rows.get(key);
    if (real === undefined) ledger.accuse(`[F4] ${device.name} holds ${key}, a ghost`);
    else if (canonical(row) !== canonical(real)) {
      ledger.accuse(`[F1] ${device.name} holds ${key} as of rev ${row.rev}, not ${real.rev}`);
    }
  }
  for (const key of auditor.rows.keys()) {
    if (!device.rows.has(key)) ledger.accuse(`[F3] ${device.name} lacks ${key}`);
  }
}

/** Nothing that anybody was shown as settled is gone or older. */
export function checkKept(ledger: Ledger, auditor: FeedDevice): void {
  const isGone = (sessionId: string | undefined) => ledger.deleted.has(sessionId ?? "");
  for (const [key, rev] of ledger.revs) {
    if (isGone(key.split(" ")[1])) continue;
    const now = auditor.rows.get(key)?.rev ?? 0;
    if (now < rev) ledger.accuse(`[F8] ${key} fell from rev ${rev} to ${now}`);
  }
  for (const [key, { sessionId, row }] of ledger.results) {
    if (isGone(sessionId)) continue;
    if (canonical(auditor.rows.get(key)?.row) !== row) ledger.accuse(`[F8] ${key} is not kept`);
  }
  for (const sessionId of ledger.deleted) {
    const left = [...auditor.rows.values()].filter((row) => row.sessionId === sessionId);
    if (left.length > 0) ledger.accuse(`[R1] ${sessionId} was deleted and has ${left.length} rows`);
  }
}

/** Each command that was answered acted, and once. */
export function checkCommands(ledger: Ledger, auditor: FeedDevice): void {
  const undone = new Map<string, number>();
  for (const { method, value } of ledger.answered.values()) {
    const by = method === "session.undo" ? 1 : method === "session.redo" ? -1 : 0;
    if (by === 0) continue;
    for (const id of requestIdsOf(value)) undone.set(id, (undone.get(id) ?? 0) + by);
  }
  const sessions = new Set(rowsOf(auditor, "session").map(({ id }) => id));
  const requests = new Map(
    rowsOf(auditor, "request").map((request) => [String(request.id), request]),
  );
  for (const { commandId, method, params } of ledger.answered.values()) {
    const sessionId = String(method === "session.create" ? commandId : params.sessionId);
    if (ledger.deleted.has(sessionId)) continue;
    const isAsking = method === "session.prompt" || method === "session.continue";
    const isThere = isAsking ? requests.has(commandId) : sessions.has(sessionId);
    if (!isThere) ledger.accuse(`[F5] ${method} ${commandId} was answered and is lost`);
  }
  for (const { command, code } of ledger.refused.values()) {
    if (requests.has(command.commandId)) {
      ledger.accuse(`[F5] ${command.method} ${command.commandId} was refused (${code}) and acted`);
    }
  }
  for (const { id, row } of requests.values()) {
    const net = undone.get(id) ?? 0;
    if (net !== (row.undone ? 1 : 0)) {
      ledger.accuse(`[F5] request ${id} was undone ${net} times and is undone: ${row.undone}`);
    }
  }
  checkTitles(ledger, auditor);
}

const requestIdsOf = (value: unknown): string[] =>
  typeof value === "object" && value !== null && "requestIds" in value
    ? Array.isArray(value.requestIds)
      ? value.requestIds.map(String)
      : []
    : [];

function checkTitles(ledger: Ledger, auditor: FeedDevice): void {
  for (const { sessionId, row } of rowsOf(auditor, "session")) {
    const issued = ledger.titles.get(sessionId) ?? [];
    const last = issued.findLast(({ commandId }) => ledger.answered.has(commandId));
    if (last !== undefined && last.params.title !== row.title) {
      ledger.accuse(`[F5] ${sessionId} is called "${row.title}", not "${last.params.title}"`);
    }
  }
}

/** Calls have results, and what streamed when the daemon died is interrupted. */
export function checkRepaired(ledger: Ledger, auditor: FeedDevice, interrupted: Interrupted): void {
  const results = new Set(
    rowsOf(auditor, "toolResult").map(({ sessionId, id }) => `${sessionId} ${id}`),
  );
  for (const { sessionId, id, row } of rowsOf(auditor, "turn")) {
    const streamed = interrupted.streams.has(`${sessionId}/${id}/answer`);
    if (streamed && row.state === "streaming") {
      ledger.accuse(`[F8] turn ${id} of ${sessionId} still streams, of a daemon that is dead`);
    }
    if (row.state === "streaming" || row.state === "calling") continue;
    for (const { callId, state } of row.calls) {
      if (state === "pending" || !results.has(`${sessionId} ${id}/${callId}`)) {
        ledger.accuse(`[F8] call ${callId} of turn ${id} of ${sessionId} dangles (${state})`);
      }
    }
  }
}

/** Returns how old the newest text was, at most, that had been seen and was lost, in ms. */
export async function checkTexts(
  ledger: Ledger,
  auditor: FeedDevice,
  { killedAt, streams }: Interrupted,
): Promise<number> {
  let oldest = 0;
  for (const [key, seen] of streams) {
    const [sessionId = "", turnId = ""] = key.split("/");
    const turn = rowsOf(auditor, "turn").find(
      (each) => each.sessionId === sessionId && each.id === turnId,
    );
    if (turn === undefined || turn.row.state === "streaming") continue;
    const kept = await wholeText(ledger, auditor, turn.row.answer);
    for (const { text, marks } of seen) {
      if (!kept.startsWith(text) && !text.startsWith(kept)) {
        ledger.accuse(`[F8] ${key} keeps another text than was seen`);
      }
      const lost = marks.find(({ length }) => length > kept.length);
      const age = lost === undefined ? 0 : killedAt - lost.at;
      oldest = Math.max(oldest, age);
      if (age > STREAM_SAVE_MS + SAVE_SLACK_MS) {
        ledger.accuse(`[F8] ${key} lost text that was seen ${Math.round(age)} ms before the kill`);
      }
    }
  }
  return oldest;
}

/** The whole of a text; a blob must be of its size and hash. */
export async function wholeText(
  ledger: Ledger,
  device: FeedDevice,
  { head, size, blob }: TextBody,
): Promise<string> {
  if (blob === null) return head;
  const parts: Uint8Array[] = [];
  for (let offset = 0; offset < size; ) {
    const { bytes } = readPart(await device.query("blob.read", { hash: blob, offset }));
    if (bytes.length === 0) break;
    parts.push(bytes);
    offset += bytes.length;
  }
  const whole = Buffer.concat(parts);
  if (whole.length !== size || sha256Hex(whole) !== blob) {
    ledger.accuse(`[R2] blob ${blob} has ${whole.length} of ${size} bytes, or other ones`);
  }
  return whole.toString("utf8");
}

function readPart(value: unknown): { bytes: Uint8Array } {
  if (typeof value === "object" && value !== null && "bytes" in value) {
    if (value.bytes instanceof Uint8Array) return { bytes: value.bytes };
  }
  throw new Error("blob.read answered without bytes");
}

/** The same prompt has the same answer, in the same number of turns, however often it is asked. */
export class AnswerCheck {
  readonly #compared = new Set<string>();
  readonly #answers = new Map<string, string>();

  get count(): number {
    return this.#compared.size;
  }

  async run(ledger: Ledger, auditor: FeedDevice): Promise<void> {
    const turns = rowsOf(auditor, "turn");
    for (const { id, row } of rowsOf(auditor, "request")) {
      if (row.state !== "done" || row.kind !== "prompt" || this.#compared.has(id)) continue;
      const own = turns.filter((turn) => turn.row.requestId === id);
      const texts = own.map((turn) => wholeText(ledger, auditor, turn.row.answer));
      const said = JSON.stringify(await Promise.all(texts));
      const prompt = row.text.head;
      if ((this.#answers.get(prompt) ?? said) !== said) {
        ledger.accuse(`[F5] request ${id} has another answer to "${prompt}" than one before`);
      }
      this.#answers.set(prompt, said);
      this.#compared.add(id);
    }
  }
}
