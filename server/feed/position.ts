// Whether a device can go on from where it says it stands, or has to start over (F4).

import type { DeviceId } from "../../shared/ids.ts";
import type { ClientMessage } from "../../shared/protocol/messages.ts";
import type { Store } from "../store/store.ts";

export type Hello = Extract<ClientMessage, { type: "hello" }>;

export type Position =
  /** Go on after the cursor. */
  | "known"
  /** Holds nothing. */
  | "fresh"
  /** Holds what this feed never sent, or less than it once had. */
  | "foreign";

/** `acked`: the furthest the device is known to have been. `viewer`: it, if it is one. */
export async function judgePosition(
  store: Pick<Store, "epoch" | "head" | "knowsPosition">,
  hello: Hello,
  { acked, viewer }: { acked: number; viewer: DeviceId | null },
): Promise<Position> {
  const { epoch, cursor, token } = hello;
  if (cursor === 0 && token === null && (epoch === null || epoch === store.epoch)) {
    return "fresh";
  }
  if (epoch !== store.epoch || token === null || cursor > store.head || cursor < acked) {
    return "foreign";
  }
  return (await store.knowsPosition(cursor, token, viewer)) ? "known" : "foreign";
}
