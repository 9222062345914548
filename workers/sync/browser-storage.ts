// What this browser says of the storage it gives; nothing on plain http from another machine.

import type { Storage } from "./keeping.ts";

/** `manager`: missing where the page is not trusted with it. */
export function browserStorage(manager: StorageManager | undefined): Storage {
  return {
    async estimate() {
      const { usage, quota } = (await manager?.estimate()) ?? {};
      return usage === undefined || quota === undefined ? null : { usage, quota };
    },
    isPersisted: async () => (await manager?.persisted()) ?? false,
  };
}
