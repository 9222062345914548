// Messages from outside: what they are, or how they are bad.

import type { ErrorCode } from "../../shared/protocol/errors.ts";
import { type ClientMessage, clientMessageSchema } from "../../shared/protocol/messages.ts";

export type Incoming =
  | { kind: "message"; message: ClientMessage }
  | { kind: "bad"; code: ErrorCode; message: string; id: number | null };

const KNOWN_TYPES: ReadonlySet<unknown> = new Set<ClientMessage["type"]>([
  "hello",
  "ack",
  "watch",
  "unwatch",
  "keep",
  "leave",
  "look",
  "call",
  "beat",
]);

export function readMessage(value: unknown): Incoming {
  const parsed = clientMessageSchema.safeParse(value);
  if (parsed.success) return { kind: "message", message: parsed.data };
  if (!isMap(value)) {
    return { kind: "bad", code: "bad_message", message: "A message is a map", id: null };
  }
  const id = Number.isSafeInteger(value.id) && Number(value.id) >= 0 ? Number(value.id) : null;
  if (typeof value.type !== "string") {
    return { kind: "bad", code: "bad_message", message: "A message has a type", id };
  }
  if (!KNOWN_TYPES.has(value.type)) {
    const message = `There is no message "${value.type.slice(0, 64)}"`;
    return { kind: "bad", code: "unknown_message", message, id };
  }
  const field = parsed.error.issues[0]?.path.join(".") ?? "";
  const message = `The field "${field.slice(0, 64)}" of the message "${value.type}" is missing or wrong`;
  const code = value.type === "call" && id !== null ? "bad_params" : "bad_message";
  return { kind: "bad", code, message, id };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
