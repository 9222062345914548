// The calls of one connection: answered side by side, each with one result or one failure.

import { Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { ClientMessage } from "../../shared/protocol/messages.ts";
import { type Log, traceOf } from "../log.ts";
import type { Dispatch } from "../methods/caller.ts";
import type { Connection } from "../transport/connection.ts";

/** Calls of one connection under way at a time. */
const CALLS_MAX = 64;

export interface CallsOptions {
  readonly connection: Connection;
  readonly dispatch: Dispatch;
  readonly log: Log;
  /** Names one failure in the log and in what the caller is told. */
  readonly makeReference: () => string;
  readonly isShuttingDown: () => boolean;
}

type CallMessage = Extract<ClientMessage, { type: "call" }>;

export class Calls {
  readonly #options: CallsOptions;
  #underWay = 0;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Never rejects: whatever happens is told to the caller. */
  async answer({ id, method, params, commandId }: CallMessage): Promise<void> {
    const { connection, dispatch } = this.#options;
    const refusal = this.#refusal();
    if (refusal !== null) {
      connection.send({ type: "failure", id, error: refusal.wire });
      return;
    }
    this.#underWay += 1;
    try {
      const value = await dispatch(connection.peer, { method, params, commandId });
      connection.send({ type: "result", id, value });
    } catch (error) {
      connection.send({ type: "failure", id, error: this.#toWire(error, method) });
    } finally {
      this.#underWay -= 1;
    }
  }

  #refusal(): Failure | null {
    if (this.#options.isShuttingDown()) {
      return new Failure("shutting_down", "The daemon is shutting down", { retryable: true });
    }
    if (this.#underWay < CALLS_MAX) return null;
    const details = { limit: CALLS_MAX };
    const message = `${CALLS_MAX} calls of this connection are still under way; wait for one of them`;
    return new Failure("too_many_calls", message, { retryable: true, details });
  }

  #toWire(error: unknown, method: string): WireError {
    if (error instanceof Failure) return error.wire;
    const reference = this.#options.makeReference();
    const { connection, log } = this.#options;
    log.error(
      { reference, method, connection: connection.id, trace: traceOf(error) },
      "a call failed unexpectedly",
    );
    return {
      code: "internal",
      message: `The daemon failed unexpectedly; its log says more under ${reference}`,
      retryable: false,
      details: { reference },
    };
  }
}
