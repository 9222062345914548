// Takes a call to its method: who may, with what, and for commands only once (F5).

import { createHash } from "node:crypto";
import { type CommandId, type DeviceId, ID_PATTERN } from "../../shared/ids.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import { isMethod, type Method, methods, type QueryMethod } from "../../shared/protocol/methods.ts";
import type { DeviceRow } from "../../shared/protocol/rows.ts";
import { codeSpan } from "../../shared/sanitize/clean-text.ts";
import type { Clock } from "../clock.ts";
import { asSettled, type Command } from "../sessions/command.ts";
import { DISK_FAILED } from "../sessions/ending.ts";
import { type Store, StoreError } from "../store/store.ts";
import type { Peer } from "../transport/connection.ts";
import type { Call, Dispatch } from "./caller.ts";
import { type CommandEntry, type MethodTable, parseParams } from "./entry.ts";
import { type MethodDeps, makeMethodTable } from "./index.ts";

export const createDispatch = (deps: MethodDeps): Dispatch =>
  dispatchTo(makeMethodTable(deps), deps);

/** Commands that failed and are remembered, the newest of them. */
const FAILED_KEPT = 4_096;

interface RunningCommand {
  readonly method: string;
  readonly paramsHash: string;
  readonly answer: Promise<unknown>;
}

function dispatchTo(
  table: MethodTable,
  { store, clock }: { store: Store; clock: Clock },
): Dispatch {
  const running = new Map<CommandId, RunningCommand>();
  /**
   * A command can be under way twice, one of them in a socket that its sender gave up. Whoever was told
   * that it failed must not see it act when that one arrives. A socket does not outlive this process.
   */
  const failed = new Map<CommandId, RunningCommand>();

  function rememberFailure(commandId: CommandId, command: RunningCommand): void {
    failed.set(commandId, command);
    const [oldest] = failed.keys();
    if (failed.size > FAILED_KEPT && oldest !== undefined) failed.delete(oldest);
  }

  /** The answer of a command that acted before, else of the one run now. */
  async function answerOnce(
    entry: CommandEntry,
    params: unknown,
    sent: { commandId: CommandId; paramsHash: string; deviceId: DeviceId | null },
  ): Promise<unknown> {
    const { commandId, paramsHash, deviceId } = sent;
    const earlier = await store.command(commandId);
    if (earlier) {
      refuseConflict(earlier, entry.method, paramsHash);
      return earlier.answer;
    }
    const command: Command = {
      commandId,
      deviceId,
      async settle(tx, value) {
        const remembered = { commandId, method: entry.method, paramsHash, answer: value };
        await tx.rememberCommand(remembered, deviceId, clock.now());
        return asSettled(value);
      },
    };
    return (await entry.run(params, command)).value;
  }

  function runCommand(entry: CommandEntry, params: unknown, call: Call, peer: Peer) {
    const commandId = parseCommandId(call);
    const paramsHash = hashParams(params);
    const known = running.get(commandId) ?? failed.get(commandId);
    if (known) {
      refuseConflict(known, entry.method, paramsHash);
      return known.answer;
    }
    const deviceId = peer.kind === "device" ? peer.deviceId : null;
    const answer = answerOnce(entry, params, { commandId, paramsHash, deviceId });
    const command = { method: entry.method, paramsHash, answer };
    running.set(commandId, command);
    answer
      .catch((error: unknown) => {
        if (isFinal(toFailure(error))) rememberFailure(commandId, command);
      })
      .finally(() => running.delete(commandId));
    return answer;
  }

  return async (peer, call) => {
    const method = parseMethod(call.method);
    refuseUnallowed(peer, method);
    const params = parseParams(method, call.params);
    const entry = table[method];
    try {
      return await (entry.kind === "command"
        ? runCommand(entry, params, call, peer)
        : entry.run(params, peer));
    } catch (error) {
      throw toFailure(error);
    }
  };
}

/** The end of the command for its sender. After `shutting_down` it tries again; a conflict is another's. */
const isFinal = (error: unknown): boolean =>
  error instanceof Failure && !["shutting_down", "command_conflict"].includes(error.wire.code);

function parseMethod(name: string): Method {
  if (isMethod(name)) return name;
  const shown = codeSpan(name, 60);
  throw new Failure("unknown_method", `This daemon has no method ${shown}.`);
}

type Role = DeviceRow["role"];

/** What else than owners may call. What such a method tells them is its own affair. */
const CALLED_BY = {
  guest: [],
  viewer: ["blob.read"],
} as const satisfies Record<Exclude<Role, "owner">, readonly QueryMethod[]>;

function mayCall(role: Role, method: Method): boolean {
  if (role === "owner") return methods[method].kind !== "local";
  const called: readonly Method[] = CALLED_BY[role];
  return called.includes(method);
}

function refuseUnallowed(peer: Peer, method: Method): void {
  if (peer.kind === "local" || mayCall(peer.role, method)) return;
  if (methods[method].kind === "local") {
    throw new Failure("not_allowed", `${method} can only be called on the daemon's own machine.`);
  }
  throw new Failure(
    "not_allowed",
    `A ${peer.role} may not call ${method}. It takes a device with the role owner.`,
  );
}

function parseCommandId({ method, commandId }: Call): CommandId {
  if (commandId !== null && ID_PATTERN.test(commandId)) return commandId as CommandId;
  throw new Failure(
    "bad_params",
    `${method} is a command: it needs a commandId of 16 to 64 base64url characters.`,
    { details: { field: "commandId" } },
  );
}

function refuseConflict(
  earlier: { method: string; paramsHash: string },
  method: Method,
  paramsHash: string,
): void {
  if (earlier.method === method && earlier.paramsHash === paramsHash) return;
  throw new Failure(
    "command_conflict",
    `This commandId was used before for ${earlier.method === method ? "other parameters" : earlier.method}. Use a fresh one.`,
  );
}

/** Of the params as checked, so that a field nobody knows makes no difference. */
const hashParams = (params: unknown): string =>
  createHash("sha256").update(canonicalJson(params)).digest("hex");

/** JSON with the keys of every object in one order. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => `${JSON.stringify(key)}:${canonicalJson(each)}`);
    return `{${fields.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** The one place where local errors become wire errors; what is no fault of a caller's stays as it is. */
function toFailure(error: unknown): unknown {
  if (error instanceof StoreError && error.code === "session_deleted") {
    return new Failure("session_gone", "This session was deleted.", { cause: error });
  }
  if (error instanceof StoreError && error.code === "not_writable") {
    return new Failure("disk_failed", DISK_FAILED.message, { retryable: true, cause: error });
  }
  return error;
}
