// The gate as an outsider meets it, with the headers sent byte for byte.

import { type ClientRequest, type IncomingHttpHeaders, request } from "node:http";
import type { Daemon } from "./daemon.ts";
import { expect, test } from "./fixtures.ts";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

function ask(
  daemon: Daemon,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked: ClientRequest = request({
      host: "127.0.0.1",
      port: daemon.port,
      path,
      method,
      setHost: false,
      headers: { Host: `127.0.0.1:${daemon.port}`, ...headers },
      // An upgrade that is let through is an answer as well.
    });
    asked.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: "" });
    });
    asked.on("response", (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    asked.on("error", reject);
    asked.end();
  });
}

const upgrade = (daemon: Daemon, headers: Record<string, string>): Promise<Answer> =>
  ask(daemon, "/ws", {
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Protocol": "troupe.1",
    ...headers,
  });

const ROUTES = ["/", "/s/AAAAAAAAAAAAAAAAAAAAAA", "/settings/devices", "/identity", "/healthz"];
const MORE_ROUTES = ["/readyz", "/metrics", "/sw.js", "/manifest.webmanifest", "/assets/none.js"];

test("[G2] a foreign Host is 421 on every route", async ({ daemon }) => {
  for (const route of [...ROUTES, ...MORE_ROUTES]) {
    for (const host of ["evil.example", `evil.example:${daemon.port}`, "127.0.0.1:1", ""]) {
      const { status } = await ask(daemon, route, { Host: host });
      expect(status, `${route} with Host ${host}`).toBe(421);
    }
  }
  expect((await ask(daemon, "/", { Host: `localhost:${daemon.port}` })).status).toBe(200);
});

test("[G3] an upgrade with a foreign Origin, or none, is 403", async ({ daemon }) => {
  const origins = ["http://evil.example", "null", `https://127.0.0.1:${daemon.port}`];
  for (const origin of [...origins, `http://127.0.0.1:${daemon.port}.evil.example`]) {
    expect((await upgrade(daemon, { Origin: origin })).status, origin).toBe(403);
  }
  expect((await upgrade(daemon, {})).status).toBe(403);
  const foreignHost = { Host: "evil.example", Origin: "http://evil.example" };
  expect((await upgrade(daemon, foreignHost)).status).toBe(421);
  expect((await upgrade(daemon, { Origin: daemon.origin })).status).toBe(101);
});

test("[G1, G4] every response carries the headers and none allows another origin", async ({
  daemon,
}) => {
  for (const route of [...ROUTES, ...MORE_ROUTES]) {
    const { headers } = await ask(daemon, route, { Origin: "http://evil.example" });
    const policy = String(headers["content-security-policy"]);
    expect(policy, route).toContain("default-src 'none'");
    expect(policy, route).toContain("frame-ancestors 'none'");
    expect(policy, route).not.toMatch(/script-src[^;]*'unsafe-(inline|eval)'/);
    expect(headers["x-content-type-options"], route).toBe("nosniff");
    expect(headers["cross-origin-opener-policy"], route).toBe("same-origin");
    expect(headers["cross-origin-resource-policy"], route).toBe("same-origin");
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
});

test("[G1] no method but GET and HEAD is answered, and no path leads outside", async ({
  daemon,
}) => {
  for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
    expect((await ask(daemon, "/", {}, method)).status, method).toBe(405);
  }
  for (const path of [
    "/../package.json",
    "/%2e%2e/package.json",
    "/assets/..%2f..%2fserver/main.js",
  ]) {
    const { status, body } = await ask(daemon, path);
    expect(status === 200 ? body : "", path).not.toContain("better-sqlite3");
    expect([200, 400, 404], path).toContain(status);
  }
});

test("tells who it is, and nothing that is secret", async ({ daemon }) => {
  const { status, body } = await ask(daemon, "/identity");
  expect(status).toBe(200);
  expect(Object.keys(JSON.parse(body)).sort()).toEqual(
    ["fingerprint", "name", "protocol", "publicKey", "version"].sort(),
  );
  expect((await ask(daemon, "/healthz")).status).toBe(200);
  expect((await ask(daemon, "/readyz")).status).toBe(200);
});
