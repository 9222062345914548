// device.*: naming devices and sending them away.

import type { DeviceId } from "../../shared/ids.ts";
import type { Store, WriteTx } from "../store/store.ts";
import { command } from "./entry.ts";

export interface Devices {
  /** Both throw `Failure` device_gone. */
  rename(tx: WriteTx, deviceId: DeviceId, name: string): Promise<unknown>;
  revoke(tx: WriteTx, deviceId: DeviceId): Promise<unknown>;
  /** The revocation is durable: close what the device has open. */
  afterRevoke(deviceId: DeviceId): void;
}

export const deviceMethods = (store: Store, devices: Devices) => ({
  "device.rename": command("device.rename", async ({ deviceId, name }, command) => {
    const { value } = await store.write(async (tx) => {
      await devices.rename(tx, deviceId, name);
      return command.settle(tx, {});
    });
    return value;
  }),
  "device.revoke": command("device.revoke", async ({ deviceId }, command) => {
    const { value } = await store.write(async (tx) => {
      await devices.revoke(tx, deviceId);
      return command.settle(tx, {});
    });
    devices.afterRevoke(deviceId);
    return value;
  }),
});
