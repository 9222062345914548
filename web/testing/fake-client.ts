// A WorkersClient whose events, answers and patches the test hands out.

import { type ErrorCode, Failure } from "../../shared/protocol/errors.ts";
import type { BlockPatch, StorageFacts, SyncEvent, WorkersClient } from "../../workers/client.ts";

export interface SentCommand {
  readonly commandId: string;
  readonly method: string;
  readonly params: unknown;
  resolve(value: unknown): void;
  fail(code: ErrorCode): void;
}

export interface FakeClient {
  readonly client: WorkersClient;
  readonly commands: SentCommand[];
  /** Calls of the other methods, as `[name, ...arguments]`. */
  readonly calls: unknown[][];
  emit(event: SyncEvent): void;
  patch(patch: BlockPatch): void;
}

const STORAGE: StorageFacts = {
  days: null,
  usedBytes: 0,
  budgetBytes: null,
  isPersisted: false,
  leftOut: 0,
};

export type AnswerQuery = (method: string, params: unknown) => Promise<unknown>;

const noAnswer: AnswerQuery = async (method) => {
  throw new Failure("internal", `The test has no answer to ${method}`);
};

export function makeFakeClient(answerQuery: AnswerQuery = noAnswer): FakeClient {
  let listener: (event: SyncEvent) => void = () => {};
  const shown = new Map<string, Set<(patch: BlockPatch) => void>>();
  const commands: SentCommand[] = [];
  const calls: unknown[][] = [];
  const record =
    (name: string) =>
    (...args: unknown[]) => {
      calls.push([name, ...args]);
    };

  const client: WorkersClient = {
    listen: (heard) => {
      listener = heard;
    },
    open: record("open"),
    close: record("close"),
    earlier: record("earlier"),
    // The test vouches for the shape of its answers.
    query: (method, params) => answerQuery(method, params) as Promise<never>,
    command(method, params) {
      const commandId = `command-${String(commands.length + 1).padStart(14, "0")}`;
      const answer = new Promise<never>((resolve, reject) => {
        commands.push({
          commandId,
          method,
          params,
          resolve: (value) => resolve(value as never),
          fail: (code) => reject(new Failure(code, `The test refused ${method}`)),
        });
      });
      return { commandId, answer };
    },
    withdraw: async (commandId) => {
      calls.push(["withdraw", commandId]);
      return true;
    },
    amend: async (commandId, params) => {
      calls.push(["amend", commandId, params]);
      return true;
    },
    look: record("look"),
    storage: async () => STORAGE,
    keepDays: async (days) => {
      calls.push(["keepDays", days]);
      return { ...STORAGE, days };
    },
    text: async (body) => body.head,
    saveDraft: record("saveDraft"),
    enrol: record("enrol"),
    show(key, heard) {
      const listeners = shown.get(key) ?? new Set();
      shown.set(key, listeners.add(heard));
      return () => listeners.delete(heard);
    },
    settle: record("settle"),
  };
  return {
    client,
    commands,
    calls,
    emit: (event) => listener(event),
    patch: (patch) => {
      for (const heard of shown.get(patch.key) ?? []) heard(patch);
    },
  };
}
