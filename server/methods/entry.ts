// The shape of a method's place in the table, and how a noun's file fills it in.

import type * as z from "zod/mini";
import { describeIssues } from "../../shared/model/describe-issues.ts";
import { Failure } from "../../shared/protocol/errors.ts";
import {
  type CommandMethod,
  type Method,
  methods,
  type Params,
  type Result,
} from "../../shared/protocol/methods.ts";
import type { Command, Settled } from "../sessions/command.ts";
import type { Peer } from "../transport/connection.ts";

type UncommandedMethod = Exclude<Method, CommandMethod>;

export type CommandEntry<M extends CommandMethod = CommandMethod> = {
  readonly kind: "command";
  readonly method: M;
  /** `params` as `parseParams` gave them. */
  readonly run: (params: unknown, command: Command) => Promise<Settled<unknown>>;
};
export type QueryEntry<M extends UncommandedMethod = UncommandedMethod> = {
  readonly kind: "query";
  readonly method: M;
  readonly run: (params: unknown, peer: Peer) => Promise<unknown>;
};

/** What the table must satisfy: every method is there, under its own name, as its own kind. */
export type MethodTable = {
  readonly [M in Method]: M extends CommandMethod
    ? CommandEntry<M>
    : M extends UncommandedMethod
      ? QueryEntry<M>
      : never;
};

/** Throws `Failure` bad_params naming the fields. */
export function parseParams<M extends Method>(method: M, params: unknown): Params<M> {
  const schema: z.ZodMiniType = methods[method].params;
  const parsed = schema.safeParse(params ?? {});
  if (!parsed.success) {
    const field = parsed.error.issues[0]?.path.map(String).join(".") ?? "";
    throw new Failure(
      "bad_params",
      `The parameters of ${method} are wrong. ${describeIssues(parsed.error.issues)}`,
      { details: { field } },
    );
  }
  return parsed.data as Params<M>;
}

export const command = <M extends CommandMethod>(
  method: M,
  handle: (params: Params<M>, command: Command) => Promise<Settled<Result<M>>>,
): CommandEntry<M> => ({
  kind: "command",
  method,
  run: (params, context) => handle(params as Params<M>, context),
});

export const query = <M extends UncommandedMethod>(
  method: M,
  handle: (params: Params<M>, peer: Peer) => Promise<Result<M>>,
): QueryEntry<M> => ({
  kind: "query",
  method,
  run: (params, peer) => handle(params as Params<M>, peer),
});
