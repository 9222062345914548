import { describe, expect, it } from "vitest";
import { hostNames, isLoopback } from "./host-names.ts";

const machine = { hostName: "Box", addresses: ["127.0.0.1", "192.168.1.7", "fe80::1"] };

describe("the names a daemon answers to", () => {
  it("are the loopback names and nothing else while it listens there", () => {
    for (const host of ["127.0.0.1", "localhost", "::1"]) {
      expect(hostNames(host, machine)).toEqual(["127.0.0.1", "localhost", "[::1]"]);
      expect(isLoopback(host)).toBe(true);
    }
  });

  it("gain the one it was told to listen on", () => {
    expect(hostNames("192.168.1.7", machine)).toEqual([
      "127.0.0.1",
      "localhost",
      "[::1]",
      "192.168.1.7",
    ]);
    expect(isLoopback("192.168.1.7")).toBe(false);
    expect(hostNames("2001:db8::1", machine)).toContain("[2001:db8::1]");
  });

  it("are all of this machine's when it listens everywhere", () => {
    for (const host of ["0.0.0.0", "::"]) {
      expect(hostNames(host, machine)).toEqual([
        "127.0.0.1",
        "localhost",
        "[::1]",
        "box",
        "192.168.1.7",
        "[fe80::1]",
      ]);
    }
  });
});
