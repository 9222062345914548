// Whether a device can go on from where it says it stands, or has to start over (F4).

import type { ClientMessage } from "../../shared/protocol/messages.ts";
import type { Store } from "../store/store.ts";

export type Hello = Extract<ClientMessage, { type: "hello" }>;

export type Position =
  /** Go on after `cursor`. */
  | { kind: "known"; cursor: number }
  /** Holds nothing. */
  | { kind: "fresh" }
  /** Holds what this feed never sent, or less than it once had. */
  | { kind: "foreign" };

/** `acked`: the furthest the device is known to have been. */
export async function judgePosition(
  store: Pick<Store, "epoch" | "head" | "knowsPosition">,
  hello: Hello,
  acked: number,
): Promise<Position> {
  const { epoch, cursor, token } = hello;
  if (cursor === 0 && token === null && (epoch === null || epoch === store.epoch)) {
    return { kind: "fresh" };
  }
  if (epoch !== store.epoch || token === null || cursor > store.head || cursor < acked) {
    return { kind: "foreign" };
  }
  return (await store.knowsPosition(cursor, token))
    ? { kind: "known", cursor }
    : { kind: "foreign" };
}
