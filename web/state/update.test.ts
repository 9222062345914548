import { describe, expect, it, vi } from "vitest";
import { makeUpdate, mayReloadAgain, type ServiceWorkers } from "./update.ts";

class FakeWorker extends EventTarget {
  state: ServiceWorkerState = "installing";
  readonly told: unknown[] = [];
  postMessage(message: unknown) {
    this.told.push(message);
  }
  become(state: ServiceWorkerState) {
    this.state = state;
    this.dispatchEvent(new Event("statechange"));
  }
}

function open(
  found: { waiting?: FakeWorker; installing?: FakeWorker } | null,
  isDaemonAway = false,
) {
  const registration = {
    waiting: found?.waiting ?? null,
    installing: found?.installing ?? null,
    update: async () => {
      if (isDaemonAway) throw new TypeError("The daemon does not answer.");
    },
  };
  const workers = { getRegistration: async () => (found === null ? undefined : registration) };
  const reload = vi.fn();
  // The fakes have the members that are used.
  const update = makeUpdate(workers as unknown as ServiceWorkers, reload);
  return { update, reload };
}

describe("registering", () => {
  it("is tried again with the next check when the daemon was away, and once done never again", async () => {
    const workers = { getRegistration: async () => undefined };
    let isDaemonAway = true;
    const register = vi.fn(async () => {});
    const update = makeUpdate(workers, vi.fn(), async () => {
      if (isDaemonAway) throw new TypeError("Failed to fetch");
      return { addEventListener: () => {}, register };
    });
    update.check();
    await update.register();
    isDaemonAway = false;
    update.check();
    await vi.waitFor(() => expect(register).toHaveBeenCalledOnce());
    update.check();
    await Promise.resolve();
    expect(register).toHaveBeenCalledOnce();
  });
});

const SKIP = { type: "SKIP_WAITING" };

describe("applying an update", () => {
  it("lets the version that waits take over, and reloads once it has", async () => {
    const waiting = new FakeWorker();
    waiting.state = "installed";
    const { update, reload } = open({ waiting });
    await update.apply();
    expect(waiting.told).toEqual([SKIP]);
    expect(reload).not.toHaveBeenCalled();
    waiting.become("activating");
    expect(reload).not.toHaveBeenCalled();
    waiting.become("activated");
    expect(reload).toHaveBeenCalledOnce();
  });

  it("waits for a version that is still being installed", async () => {
    const installing = new FakeWorker();
    const { update, reload } = open({ installing });
    await update.apply();
    expect(installing.told).toEqual([]);
    installing.become("installed");
    expect(installing.told).toEqual([SKIP]);
    expect(reload).not.toHaveBeenCalled();
  });

  it("reloads as it is when there is no other version, or it could not be installed", async () => {
    const none = open({});
    await none.update.apply();
    expect(none.reload).toHaveBeenCalledOnce();
    const unregistered = open(null);
    await unregistered.update.apply();
    expect(unregistered.reload).toHaveBeenCalledOnce();
    const installing = new FakeWorker();
    const broken = open({ installing });
    await broken.update.apply();
    installing.become("redundant");
    expect(broken.reload).toHaveBeenCalledOnce();
  });

  it("applies what waits although the daemon is away", async () => {
    const waiting = new FakeWorker();
    waiting.state = "installed";
    const { update } = open({ waiting }, true);
    await update.apply();
    expect(waiting.told).toEqual([SKIP]);
  });

  it("reloads where there are no service workers at all", async () => {
    const reload = vi.fn();
    await makeUpdate(null, reload).apply();
    expect(reload).toHaveBeenCalledOnce();
  });
});

describe("mayReloadAgain", () => {
  it("allows one reload, and the next only when it cannot be a loop", () => {
    const held = new Map<string, string>();
    const storage = {
      getItem: (key: string) => held.get(key) ?? null,
      setItem: (key: string, value: string) => void held.set(key, value),
    };
    expect(mayReloadAgain(storage, 1_000)).toBe(true);
    expect(mayReloadAgain(storage, 5_000)).toBe(false);
    expect(mayReloadAgain(storage, 60_000)).toBe(true);
  });
});
