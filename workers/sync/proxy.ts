// The page's side of the sync worker: asks, and settles what was asked when the answer comes.

import { type CommandId, toBase64Url } from "../../shared/ids.ts";
import { Failure, type WireError } from "../../shared/protocol/errors.ts";
import type { CommandMethod, Params, QueryMethod, Result } from "../../shared/protocol/methods.ts";
import type { TextBody } from "../../shared/protocol/rows.ts";
import type { PageMessage, StorageFacts, SyncMessage } from "./port.ts";

export type SyncEvent = Exclude<
  SyncMessage,
  { type: "value" | "failure" | "alive" | "successor" | "withdrawn" }
>;

/** The sync worker, or its port. */
export interface SyncEnd {
  postMessage(message: PageMessage, transfer?: Transferable[]): void;
}

/** What becomes of the worker and its engine. */
export interface SyncFate {
  /** The worker holds this lock for as long as it lives. */
  alive(lock: string): void;
  /** Another engine than before serves this page: attach, then `askAgain`. */
  succeeded(): void;
}

interface Asked {
  question: PageMessage;
  answered(value: unknown): void;
  failed(failure: Failure): void;
}

type CommandMessage = Extract<PageMessage, { type: "command" }>;

const COMMAND_ID_BYTES = 16;

export class SyncProxy {
  #end: SyncEnd;
  readonly #fate: SyncFate;
  readonly #randomBytes: (length: number) => Uint8Array;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #listener: ((event: SyncEvent) => void) | null = null;
  /** Said before anyone listened. */
  #early: SyncEvent[] = [];

  constructor(end: SyncEnd, randomBytes: (length: number) => Uint8Array, fate: SyncFate) {
    this.#end = end;
    this.#fate = fate;
    this.#randomBytes = randomBytes;
  }

  listen(listener: (event: SyncEvent) => void): void {
    this.#listener = listener;
    const early = this.#early;
    this.#early = [];
    for (const event of early) listener(event);
  }

  /** Another worker takes the place of one that died. It has to be attached to before anything else. */
  replace(end: SyncEnd): void {
    this.#end = end;
  }

  /** What the dead one left unanswered. Asking twice does nothing twice: commands have ids (F5). */
  askAgain(): void {
    for (const { question } of this.#asked.values()) {
      this.post(question.type === "command" ? { ...question, isAgain: true } : question);
    }
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
      case "alive":
        this.#fate.alive(message.lock);
        return;
      case "successor":
        this.#fate.succeeded();
        return;
      case "outbox":
        // Another page may have amended what this one asked.
        for (const { commandId, params } of message.entries) {
          this.#reconsider(commandId, (question) => ({ ...question, params }));
        }
        this.#pass(message);
        return;
      case "withdrawn":
        this.#reconsider(message.commandId, () => null);
        return;
      default:
        this.#pass(message);
    }
  }

  #pass(event: SyncEvent): void {
    if (this.#listener === null) this.#early.push(event);
    else this.#listener(event);
  }

  post(message: PageMessage, transfer: Transferable[] = []): void {
    this.#end.postMessage(message, transfer);
  }

  query<M extends QueryMethod>(method: M, params: Params<M>): Promise<Result<M>> {
    return this.#ask((id) => ({ type: "query", id, method, params }));
  }

  command<M extends CommandMethod>(
    method: M,
    params: Params<M>,
  ): { commandId: string; answer: Promise<Result<M>> } {
    const commandId = toBase64Url(this.#randomBytes(COMMAND_ID_BYTES)) as CommandId;
    const answer = this.#ask<Result<M>>((id) => ({
      type: "command",
      id,
      commandId,
      method,
      params,
    }));
    return { commandId, answer };
  }

  withdraw(commandId: string): Promise<boolean> {
    return this.#ask((id) => ({ type: "withdraw", id, commandId: commandId as CommandId }));
  }

  amend(commandId: string, params: unknown): Promise<boolean> {
    return this.#ask((id) => ({ type: "amend", id, commandId: commandId as CommandId, params }));
  }

  #reconsider(
    commandId: string,
    change: (question: CommandMessage) => CommandMessage | null,
  ): void {
    for (const [id, asked] of this.#asked) {
      const { question } = asked;
      if (question.type !== "command" || question.commandId !== commandId) continue;
      const changed = change(question);
      if (changed === null) this.#asked.delete(id);
      else asked.question = changed;
    }
  }

  storage(): Promise<StorageFacts> {
    return this.#ask((id) => ({ type: "storage", id }));
  }

  keepDays(days: number | null): Promise<StorageFacts> {
    return this.#ask((id) => ({ type: "keepDays", id, days }));
  }

  text(body: TextBody): Promise<string> {
    if (body.blob === null) return Promise.resolve(body.head);
    // A copy: what comes from a reactive store cannot be cloned across to the worker.
    const { head, size, blob } = body;
    return this.#ask((id) => ({ type: "text", id, body: { head, size, blob } }));
  }

  /** The sync worker has checked the answer against the method's schema: here it only gets its type. */
  #ask<T>(ask: (id: number) => PageMessage): Promise<T> {
    const id = ++this.#lastId;
    const question = ask(id);
    return new Promise<T>((resolve, failed) => {
      this.#asked.set(id, { question, answered: (value) => resolve(value as T), failed });
      this.post(question);
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
