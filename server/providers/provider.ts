// The contract of a provider adapter: one logical request in, a stream of events out.

import type { CallId } from "../../shared/ids.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { Model } from "../../shared/protocol/methods.ts";
import type { Usage } from "../../shared/protocol/rows.ts";

export interface ModelCall {
  readonly callId: CallId;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export type ModelMessage =
  | { role: "user"; text: string }
  | { role: "assistant"; text: string; calls: readonly ModelCall[] }
  | { role: "tool"; callId: CallId; name: string; text: string; isError: boolean };

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Record<string, unknown>;
}

export interface ModelRequest {
  /** The model's name within the provider. */
  readonly model: string;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSchema[];
}

export type ModelEvent =
  | { type: "answer"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "call"; call: ModelCall }
  | { type: "usage"; usage: Usage }
  | { type: "done"; reason: "stop" | "calls" | "length" | "filtered" }
  | { type: "error"; error: WireError };

export interface Provider {
  /** The slug before the slash of a model id. */
  readonly slug: string;
  models(): Promise<Model[]>;
  /**
   * Never throws: ends in exactly one `done` or `error`, unless `signal` aborts, after which it ends
   * soon with neither. Text events hold no split surrogate pair.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
