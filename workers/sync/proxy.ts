// The page's side of the sync worker: asks, and settles what was asked when the answer comes.

import { type CommandId, toBase64Url } from "../../shared/ids.ts";
import { Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { CommandMethod, Params, QueryMethod, Result } from "../../shared/protocol/methods.ts";
import type { TextBody } from "../../shared/protocol/rows.ts";
import type { PageMessage, SyncMessage } from "./port.ts";

export type SyncEvent = Exclude<SyncMessage, { type: "value" } | { type: "failure" }>;

/** The sync worker, or its port. */
export interface SyncEnd {
  postMessage(message: PageMessage, transfer?: Transferable[]): void;
}

interface Asked {
  answered(value: unknown): void;
  failed(failure: Failure): void;
}

const COMMAND_ID_BYTES = 16;

export class SyncProxy {
  readonly #end: SyncEnd;
  readonly #randomBytes: (length: number) => Uint8Array;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #listener: ((event: SyncEvent) => void) | null = null;
  /** Said before anyone listened. */
  #early: SyncEvent[] = [];

  constructor(end: SyncEnd, randomBytes: (length: number) => Uint8Array) {
    this.#end = end;
    this.#randomBytes = randomBytes;
  }

  listen(listener: (event: SyncEvent) => void): void {
    this.#listener = listener;
    const early = this.#early;
    this.#early = [];
    for (const event of early) listener(event);
  }

  /** A message of the sync worker. */
  receive(message: SyncMessage): void {
    switch (message.type) {
      case "value":
        this.#take(message.id)?.answered(message.value);
        return;
      case "failure":
        this.#take(message.id)?.failed(toFailure(message.error));
        return;
      default:
        if (this.#listener === null) this.#early.push(message);
        else this.#listener(message);
    }
  }

  post(message: PageMessage, transfer: Transferable[] = []): void {
    this.#end.postMessage(message, transfer);
  }

  query<M extends QueryMethod>(method: M, params: Params<M>): Promise<Result<M>> {
    return this.#ask((id) => this.post({ type: "query", id, method, params }));
  }

  command<M extends CommandMethod>(
    method: M,
    params: Params<M>,
  ): { commandId: string; answer: Promise<Result<M>> } {
    const commandId = toBase64Url(this.#randomBytes(COMMAND_ID_BYTES)) as CommandId;
    const answer = this.#ask<Result<M>>((id) =>
      this.post({ type: "command", id, commandId, method, params }),
    );
    return { commandId, answer };
  }

  text(body: TextBody): Promise<string> {
    if (body.blob === null) return Promise.resolve(body.head);
    // A copy: what comes from a reactive store cannot be cloned across to the worker.
    const { head, size, blob } = body;
    return this.#ask((id) => this.post({ type: "text", id, body: { head, size, blob } }));
  }

  /** The sync worker has checked the answer against the method's schema: here it only gets its type. */
  #ask<T>(post: (id: number) => void): Promise<T> {
    const id = ++this.#lastId;
    return new Promise<T>((resolve, failed) => {
      this.#asked.set(id, { answered: (value) => resolve(value as T), failed });
      post(id);
    });
  }

  #take(id: number): Asked | undefined {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    return asked;
  }
}

const toFailure = ({ code, message, retryable, details }: WireError): Failure =>
  new Failure(code, message, { retryable, ...(details && { details }) });
