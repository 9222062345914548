// A new version of the app: found by the service worker, applied when the person says so.

import { type Accessor, createSignal } from "solid-js";

export interface Update {
  readonly isReady: Accessor<boolean>;
  /** Looks for a new version now; registers first, if that could not be done when it was asked for. */
  check(): void;
  /** Reloads into the newest version there is: also one that is still on its way, or none but this. */
  apply(): Promise<void>;
}

/** The part of `navigator.serviceWorker` this needs. */
export type ServiceWorkers = Pick<ServiceWorkerContainer, "getRegistration">;

/** The part of a Workbox this needs. */
export interface Installer {
  addEventListener(type: "waiting", listener: () => void): void;
  register(): Promise<unknown>;
}

async function loadInstaller(): Promise<Installer> {
  const { Workbox } = await import("workbox-window");
  return new Workbox("/sw.js", { type: "classic" });
}

/**
 * Registers the service worker. Without one (plain http on a network address, where `workers` is null)
 * the app works, only not offline. Registering never rejects: while the daemon is away it cannot be
 * done, and the next `check` tries again.
 */
export function makeUpdate(
  workers: ServiceWorkers | null,
  reload: () => void,
  load = loadInstaller,
): Update & { register(): Promise<void> } {
  const [isReady, setIsReady] = createSignal(false);
  let registering: "no" | "failed" | "done" = "no";
  const register = async () => {
    if (workers === null) return;
    registering = "done";
    try {
      const installer = await load();
      installer.addEventListener("waiting", () => setIsReady(true));
      await installer.register();
    } catch {
      registering = "failed";
    }
  };
  return {
    isReady,
    check() {
      if (registering === "failed") {
        void register();
        return;
      }
      workers
        ?.getRegistration()
        .then((registration) => registration?.update())
        // No daemon to ask: whatever it has is found later.
        .catch(() => {});
    },
    async apply() {
      const coming = workers === null ? null : await findComing(workers);
      if (coming === null) {
        reload();
        return;
      }
      // A page opened before there was any service worker is controlled by none, and hears of no
      // change of control: the version's own state says when it is in charge.
      const settle = () => {
        if (coming.state === "installed") coming.postMessage({ type: "SKIP_WAITING" });
        else if (coming.state === "activated" || coming.state === "redundant") reload();
      };
      coming.addEventListener("statechange", settle);
      settle();
    },
    register,
  };
}

const RELOADED_KEY = "troupe.reloadedAt";
const RELOAD_PAUSE_MS = 30_000;

/** A page reloads by itself to get parts that are missing; if that did not help, not over and over. */
export function mayReloadAgain(
  storage: Pick<Storage, "getItem" | "setItem">,
  now: number,
): boolean {
  const since = now - Number(storage.getItem(RELOADED_KEY) ?? Number.NEGATIVE_INFINITY);
  if (since >= 0 && since < RELOAD_PAUSE_MS) return false;
  storage.setItem(RELOADED_KEY, String(now));
  return true;
}

/** The version that is to follow this one, installed or about to be. */
async function findComing(workers: ServiceWorkers): Promise<ServiceWorker | null> {
  const registration = await workers.getRegistration();
  if (registration === undefined) return null;
  try {
    await registration.update();
  } catch {
    // The daemon does not answer: one that waits already will do.
  }
  return registration.waiting ?? registration.installing;
}
