// A new version of the app: found by the service worker, applied when the person says so.

import { type Accessor, createSignal } from "solid-js";

export interface Update {
  readonly isReady: Accessor<boolean>;
  /** Lets the waiting version take over, then reloads. */
  apply(): void;
}

/**
 * Registers the service worker. Without one (plain http on a network address) the app works, only
 * not offline. Resolves once registered or found impossible.
 */
export function makeUpdate(): Update & { register(): Promise<void> } {
  const [isReady, setIsReady] = createSignal(false);
  let takeOver = () => {};
  return {
    isReady,
    apply: () => takeOver(),
    async register() {
      if (!("serviceWorker" in navigator)) return;
      const { Workbox } = await import("workbox-window");
      const workbox = new Workbox("/sw.js", { type: "classic" });
      workbox.addEventListener("waiting", () => setIsReady(true));
      takeOver = () => {
        workbox.addEventListener("controlling", () => location.reload());
        workbox.messageSkipWaiting();
      };
      await workbox.register();
    },
  };
}
