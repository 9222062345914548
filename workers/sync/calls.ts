// Calls under way on the present connection: numbers them, checks the answers, and fails them all
// when the connection is lost.

import { Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { ClientMessage } from "../../shared/protocol/messages.ts";
import { type CommandMethod, methods, type QueryMethod } from "../../shared/protocol/methods.ts";
import { PROBE_CALL_ID } from "./probe.ts";

type CallableMethod = CommandMethod | QueryMethod;

interface Pending {
  readonly method: CallableMethod;
  resolve(value: unknown): void;
  reject(failure: Failure): void;
}

export class Calls {
  readonly #send: (message: ClientMessage) => boolean;
  readonly #pending = new Map<number, Pending>();
  #lastId = PROBE_CALL_ID;

  /** `send` says false when there is no connection. */
  constructor(send: (message: ClientMessage) => boolean) {
    this.#send = send;
  }

  /** Rejects with a `Failure`; not_connected also when the connection is lost before the answer. */
  call(method: CallableMethod, params: unknown, commandId: string | null): Promise<unknown> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { method, resolve, reject });
      if (!this.#send({ type: "call", id, commandId, method, params })) {
        this.#pending.delete(id);
        reject(notConnected(method));
      }
    });
  }

  result(id: number, value: unknown): void {
    const pending = this.#take(id);
    if (pending === undefined) return;
    const parsed = methods[pending.method].result.safeParse(value);
    if (parsed.success) pending.resolve(parsed.data);
    else {
      const message = `The daemon's answer to ${pending.method} is not of the agreed shape.`;
      pending.reject(new Failure("internal", message, { cause: parsed.error }));
    }
  }

  failure(id: number, { code, message, retryable, details }: WireError): void {
    const options = { retryable, ...(details && { details }) };
    this.#take(id)?.reject(new Failure(code, message, options));
  }

  lost(): void {
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const { method, reject } of lost) reject(notConnected(method));
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}

const notConnected = (method: string): Failure =>
  new Failure("not_connected", `There is no connection to the daemon for ${method}.`, {
    retryable: true,
  });
