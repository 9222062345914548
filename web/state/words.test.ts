import { describe, expect, it } from "vitest";
import type { DeviceId } from "../../shared/ids.ts";
import { ERROR_CODES, Failure } from "../../shared/protocol/errors.ts";
import type { ConnectionState } from "../../workers/client.ts";
import {
  announcedConnection,
  daemonWords,
  missingTextWords,
  problemWords,
  syncWords,
  wordsFor,
} from "./words.ts";

const LIVE: ConnectionState = {
  kind: "live",
  deviceId: "device" as DeviceId,
  role: "owner",
  daemonName: "studio",
  daemonVersion: "0.1.0",
};
const OFFLINE: ConnectionState = { kind: "offline", because: "unreachable", retryAt: 0 };
const NOW = 1_000_000;

describe("wordsFor", () => {
  it.each(ERROR_CODES)("says what %s means and what to do, in whole sentences", (code) => {
    const { what, todo } = wordsFor({ code });
    expect(what).toMatch(/^[A-Z].*\.$/);
    expect(todo).toMatch(/^[A-Z].*\.$/);
    expect(what + todo).not.toMatch(/[!]|Oops/);
  });

  it("words an error that is no Failure as one inside the daemon", () => {
    expect(problemWords(new Error("x"))).toContain("inside the daemon");
    expect(problemWords(new Failure("folder_missing", "x"))).toContain("no folder at this path");
  });
});

describe("missingTextWords", () => {
  it("tells a text that is still to come from one that never will", () => {
    const later = new Failure("not_connected", "x", { retryable: true });
    expect(missingTextWords(later)).toContain("not on this device yet");
    expect(missingTextWords(new Failure("blob_gone", "x"))).toContain("no longer stored");
    expect(missingTextWords(new Failure("storage_failed", "x"))).toContain(
      "This browser's storage",
    );
    expect(missingTextWords(new Failure("internal", "x"))).toContain("inside the daemon");
  });
});

describe("syncWords", () => {
  const words = (state: ConnectionState, facts: { syncedAt?: number | null; waiting?: number }) =>
    syncWords(state, { syncedAt: NOW - 2_000, waiting: 0, now: NOW, ...facts });

  it("says where the device stands in each state", () => {
    expect(words(LIVE, {})).toBe("Synced 2 s ago");
    expect(words(LIVE, { waiting: 1 })).toBe("Sending 1 change");
    expect(words(OFFLINE, { waiting: 3 })).toBe("Offline, 3 changes waiting");
    expect(words(OFFLINE, {})).toBe("Offline, synced 2 s ago");
    expect(words(OFFLINE, { syncedAt: null })).toBe("Offline");
    expect(words({ kind: "catching-up", applied: 1240, total: 5000 }, {})).toBe(
      "Catching up 1,240 / 5,000",
    );
    expect(words({ kind: "connecting" }, { waiting: 2 })).toBe("Connecting, 2 changes waiting");
  });
});

it("names the daemon while it is live, and the state otherwise", () => {
  expect(daemonWords(LIVE)).toBe("studio");
  expect(daemonWords(OFFLINE)).toBe("offline · reading");
});

it("announces only what a listener can use", () => {
  expect(announcedConnection({ kind: "handshaking" })).toBeNull();
  expect(announcedConnection(OFFLINE)).toBe("Offline: the daemon does not answer.");
});
