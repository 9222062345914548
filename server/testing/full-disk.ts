// A store whose disk is full when a test says so. Reads go on, as they do on a full disk.

import { type Store, StoreError } from "../store/store.ts";

export interface FullDisk {
  readonly store: Store;
  isFull: boolean;
}

export function makeFullDisk(store: Store): FullDisk {
  const refuse = () => Promise.reject(new StoreError("not_writable", "The disk is full."));
  const disk: FullDisk = {
    isFull: false,
    store: new Proxy(store, {
      get(target, name) {
        if (name === "write" && disk.isFull) return refuse;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    }),
  };
  return disk;
}
