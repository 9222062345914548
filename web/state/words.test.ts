import { describe, expect, it } from "vitest";
import type { DeviceId } from "../../shared/ids.ts";
import type { ConnectionState } from "../../workers/client.ts";
import {
  announcedConnection,
  daemonWords,
  fetchingWords,
  receiptWords,
  syncWords,
} from "./words.ts";

const LIVE: ConnectionState = {
  kind: "live",
  deviceId: "device" as DeviceId,
  role: "owner",
  daemonName: "studio",
  daemonVersion: "0.1.0",
  clockAheadMs: 0,
};
const OFFLINE: ConnectionState = { kind: "offline", because: "unreachable", retryAt: 0 };
const NOW = 1_000_000;

describe("syncWords", () => {
  const words = (state: ConnectionState, facts: { syncedAt?: number | null; waiting?: number }) =>
    syncWords(state, { syncedAt: NOW - 2_000, waiting: 0, now: NOW, ...facts });

  it("says where the device stands in each state", () => {
    expect(words(LIVE, {})).toBe("Synced 2 s ago");
    expect(words(LIVE, { waiting: 1 })).toBe("Sending 1 change");
    expect(words(OFFLINE, { waiting: 3 })).toBe("Offline, 3 changes waiting");
    expect(words(OFFLINE, {})).toBe("Offline, synced 2 s ago");
    expect(words(OFFLINE, { syncedAt: null })).toBe("Offline");
    expect(words({ kind: "catching-up", applied: 1240, total: 5000 }, {})).toBe("Catching up 24%");
    expect(words({ kind: "catching-up", applied: 0, total: 0 }, {})).toBe("Catching up 0%");
    expect(words({ kind: "connecting" }, { waiting: 2 })).toBe("Connecting, 2 changes waiting");
  });
});

describe("receiptWords", () => {
  it("promises nothing that is not known of a prompt on its way", () => {
    expect(receiptWords("waiting", OFFLINE)).toBe("Will be sent when the daemon is back");
    expect(receiptWords("waiting", { kind: "connecting" })).toContain("when the daemon is back");
    expect(receiptWords("waiting", LIVE)).toBe("Waits for what was sent before it");
    expect(receiptWords("sent", LIVE)).toBe("Sent, not accepted yet");
    expect(receiptWords("sent", OFFLINE)).toContain("whether it arrived shows when");
  });
});

describe("fetchingWords", () => {
  it("says how far a session that was left out has come, or why it does not come", () => {
    expect(fetchingWords(LIVE, { here: 0, all: 0 })).toBe("Fetching this session…");
    expect(fetchingWords(LIVE, { here: 0, all: 1_240 })).toBe(
      "Fetching this session: 1,240 turns…",
    );
    expect(fetchingWords(LIVE, { here: 512, all: 1_240 })).toBe(
      "Fetching this session: 512 of 1,240 turns…",
    );
    expect(fetchingWords(OFFLINE, { here: 0, all: 9 })).toBe(
      "This session is not kept in this browser. It will be fetched when the daemon is back.",
    );
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
