import { describe, expect, it } from "vitest";
import { makeGate, refuseRequest, refuseUpgrade } from "./gate.ts";

const gate = makeGate(4780, ["Workshop.local", "box.example:8443", "[fd00::1]", "10.0.0.5:80"]);

const ask = (rawHeaders: string[], method = "GET", target = "/") => ({
  method,
  target,
  rawHeaders,
});
const host = (value: string) => refuseRequest(gate, ask(["Host", value]));
const origin = (value: string) =>
  refuseUpgrade(gate, ask(["Host", "localhost:4780", "Origin", value]));

describe("gate", () => {
  it.each([
    "localhost:4780",
    "127.0.0.1:4780",
    "[::1]:4780",
    "LocalHost:4780",
    "workshop.local:4780",
    "box.example:8443",
    "[fd00::1]:4780",
    "10.0.0.5",
    "10.0.0.5:80",
  ])("answers to %s", (value) => {
    expect(host(value)).toBeNull();
  });

  it.each([
    "evil.example",
    "evil.example:4780",
    "localhost",
    "localhost:80",
    "localhost:47800",
    "localhost:4780:4780",
    "localhost.:4780",
    "localhost.evil.example:4780",
    "evil.example@localhost:4780",
    "localhost:4780@evil.example",
    "127.0.0.1.nip.io:4780",
    "127.1:4780",
    "0.0.0.0:4780",
    "2130706433:4780",
    "::1:4780",
    "[::1]",
    "[0:0:0:0:0:0:0:1]:4780",
    "[::ffff:127.0.0.1]:4780",
    "box.example:4780",
    "",
    " ",
    "localhost:4780,evil.example",
  ])("answers 421 to Host %j", (value) => {
    expect(host(value)).toBe(421);
  });

  it("answers 421 without a Host, or with two", () => {
    expect(refuseRequest(gate, ask([]))).toBe(421);
    const twice = ["Host", "localhost:4780", "host", "localhost:4780"];
    expect(refuseRequest(gate, ask(twice))).toBe(421);
    expect(refuseRequest(gate, ask(["X-Host", "localhost:4780"]))).toBe(421);
    // A value that spells a header's name is no header.
    expect(refuseRequest(gate, ask(["X", "Host", "localhost:4780", "Y"]))).toBe(421);
  });

  it("answers 421 to an absolute target, whatever the Host says", () => {
    const asked = ask(["Host", "localhost:4780"], "GET", "http://evil.example/");
    expect(refuseRequest(gate, asked)).toBe(421);
    expect(refuseRequest(gate, ask(["Host", "localhost:4780"], "OPTIONS", "*"))).toBe(421);
  });

  it("answers 405 to everything but GET and HEAD", () => {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT"]) {
      expect(refuseRequest(gate, ask(["Host", "localhost:4780"], method))).toBe(405);
    }
    expect(refuseRequest(gate, ask(["Host", "localhost:4780"], "HEAD"))).toBeNull();
    const head = ask(["Host", "localhost:4780", "Origin", "http://localhost:4780"], "HEAD");
    expect(refuseUpgrade(gate, head)).toBe(405);
  });

  it.each([
    "http://localhost:4780",
    "http://127.0.0.1:4780",
    "http://[::1]:4780",
    "http://workshop.local:4780",
    "http://box.example:8443",
    "http://10.0.0.5",
  ])("lets %s open a socket", (value) => {
    expect(origin(value)).toBeNull();
  });

  it.each([
    "http://evil.example",
    "http://evil.example:4780",
    "https://localhost:4780",
    "http://localhost",
    "http://localhost:5173",
    "http://localhost:4780/",
    "http://localhost:4780@evil.example",
    "http://localhost:4780.evil.example",
    "http://user@localhost:4780",
    "HTTP://LOCALHOST:4780",
    "null",
    "",
    "file://",
    "chrome-extension://abcdef",
  ])("answers 403 to a socket from origin %j", (value) => {
    expect(origin(value)).toBe(403);
  });

  it("answers 403 to a socket without an origin, or with two", () => {
    expect(refuseUpgrade(gate, ask(["Host", "localhost:4780"]))).toBe(403);
    const ours = "http://localhost:4780";
    const twice = ask(["Host", "localhost:4780", "Origin", ours, "Origin", ours]);
    expect(refuseUpgrade(gate, twice)).toBe(403);
  });

  it("needs no port in the name where the port is 80", () => {
    const plain = makeGate(80, []);
    expect(refuseRequest(plain, ask(["Host", "localhost"]))).toBeNull();
    expect(refuseRequest(plain, ask(["Host", "localhost:80"]))).toBeNull();
    const asked = ask(["Host", "localhost", "Origin", "http://localhost"]);
    expect(refuseUpgrade(plain, asked)).toBeNull();
  });
});
