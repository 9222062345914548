// How a command is settled: its answer is stored in the transaction that holds its effect (F5). A
// handler has to return a `Settled`, and only `settle` makes one, so none can forget.

import type { CommandId, DeviceId } from "../../shared/ids.ts";
import type { WriteTx } from "../store/store.ts";

declare const settledBrand: unique symbol;
export interface Settled<T> {
  readonly value: T;
  readonly [settledBrand]: true;
}

export interface Command {
  readonly commandId: CommandId;
  /** Null: sent over the Unix socket. */
  readonly deviceId: DeviceId | null;
  /** Call once, inside the transaction that does what the command asks for. */
  settle<T>(tx: WriteTx, value: T): Promise<Settled<T>>;
}

/** For whoever remembered the command in the transaction; nobody else makes a Settled. */
export const asSettled = <T>(value: T): Settled<T> => ({ value }) as Settled<T>;
