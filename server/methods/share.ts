// share.*: links to a session for those who only read, and taking them back.

import type { DeviceId, SessionId } from "../../shared/ids.ts";
import type { Params } from "../../shared/protocol/methods.ts";
import type { Store, WriteTx } from "../store/store.ts";
import { command } from "./entry.ts";

export interface Shares {
  /** Throws `Failure` session_gone or bad_params. */
  create(tx: WriteTx, share: Params<"share.create">, createdBy: DeviceId | null): Promise<void>;
  /** Throws `Failure` session_gone or share_gone. */
  revoke(tx: WriteTx, sessionId: SessionId, shareId: string): Promise<void>;
}

export const shareMethods = (store: Store, shares: Shares) => ({
  "share.create": command("share.create", async (share, command) => {
    const { value } = await store.write(async (tx) => {
      await shares.create(tx, share, command.deviceId);
      return command.settle(tx, {});
    });
    return value;
  }),
  "share.revoke": command("share.revoke", async ({ sessionId, shareId }, command) => {
    const { value } = await store.write(async (tx) => {
      await shares.revoke(tx, sessionId, shareId);
      return command.settle(tx, {});
    });
    return value;
  }),
});
