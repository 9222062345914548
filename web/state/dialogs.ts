// Which dialog is open. One at a time; its code is loaded when first needed.

import { type Accessor, createSignal } from "solid-js";
import type { DeviceId, SessionId } from "../../shared/ids.ts";

export type Dialog =
  | { kind: "new-session" }
  | { kind: "on-its-way" }
  | { kind: "rename-session"; sessionId: SessionId; title: string }
  | { kind: "delete-session"; sessionId: SessionId; title: string }
  | { kind: "share-session"; sessionId: SessionId; title: string }
  | { kind: "rename-device"; deviceId: DeviceId; name: string }
  | { kind: "revoke-device"; deviceId: DeviceId; name: string; isThisOne: boolean };

export interface Dialogs {
  readonly current: Accessor<Dialog | null>;
  open(dialog: Dialog): void;
  close(): void;
}

export function makeDialogs(): Dialogs {
  const [current, setCurrent] = createSignal<Dialog | null>(null);
  return { current, open: setCurrent, close: () => setCurrent(null) };
}
