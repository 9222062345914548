import { rm, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fromBase64Url } from "../../shared/ids.ts";
import { identitySchema } from "../../shared/protocol/handshake.ts";
import { runTransport } from "../testing/running-transport.ts";
import { SECURITY_HEADERS } from "./response-headers.ts";

const FILES = {
  "index.html": "<title>Troupe</title>",
  "sw.js": "// worker",
  "manifest.webmanifest": "{}",
  "assets/app-abc123.js": "plain",
  "assets/app-abc123.js.br": "br",
  "assets/app-abc123.js.gz": "gz",
  "icons/a b.svg": "<svg/>",
};

interface Answered {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends the path and headers as they are: `fetch` tidies both. */
function ask(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { method = "GET", headers = {} } = options;
    const request = httpRequest({ host: "127.0.0.1", port, path, method, headers }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    request.on("error", reject);
    request.end();
  });
}

/** Sends raw bytes and gives all that comes back. */
function askRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => {
      received += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(received));
  });
}

describe("http", () => {
  it("serves the app's own routes with the page, and files by their exact names", async () => {
    const { transport } = await runTransport({ files: FILES });
    const { port } = transport;
    for (const path of ["/", "/s/0123456789abcdef", "/settings", "/settings/devices", "/?x=1"]) {
      const { status, headers, body } = await ask(port, path);
      expect([status, headers["content-type"], headers["cache-control"], body]).toEqual([
        200,
        "text/html; charset=utf-8",
        "no-cache",
        FILES["index.html"],
      ]);
    }
    expect((await ask(port, "/sw.js")).headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "no-cache",
    });
    expect((await ask(port, "/manifest.webmanifest")).headers["content-type"]).toContain(
      "application/manifest+json",
    );
  });

  it.each([
    "/assets/missing.js",
    "/s/",
    "/s/a/b",
    "/s/..%2f..",
    "/settings/a/b",
    "/../package.json",
    "/assets/../index.html",
    "/%2e%2e/package.json",
    "/assets/..%2f..%2fsecret",
    "//index.html",
    "/index.html/",
    "/\\index.html",
    "/index.html%00",
    "/assets",
    "/constructor",
    "/.git/config",
    "/ws",
  ])("answers 404 to %s", async (path) => {
    const { transport } = await runTransport({ files: FILES });
    expect((await ask(transport.port, path)).status).toBe(404);
  });

  it("lets hashed files be kept for good, and sends them as the client can unpack them", async () => {
    const { transport } = await runTransport({ files: FILES });
    const get = (encodings?: string) =>
      ask(transport.port, "/assets/app-abc123.js", {
        headers: encodings === undefined ? {} : { "Accept-Encoding": encodings },
      });
    const expected: [string | undefined, string, string | undefined][] = [
      [undefined, "plain", undefined],
      ["gzip, deflate, br", "br", "br"],
      ["GZIP", "gz", "gzip"],
      ["br;q=0, gzip", "gz", "gzip"],
      ["br;q=0.0, gzip;q=0", "plain", undefined],
      ["*", "br", "br"],
      ["identity", "plain", undefined],
      ["brotli", "plain", undefined],
    ];
    for (const [encodings, body, encoding] of expected) {
      const answered = await get(encodings);
      expect([answered.body, answered.headers["content-encoding"]]).toEqual([body, encoding]);
      expect(answered.headers.vary).toBe("Accept-Encoding");
      expect(answered.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    }
  });

  it("answers 304 to a client that has it, and no body to HEAD", async () => {
    const { transport } = await runTransport({ files: FILES });
    const first = await ask(transport.port, "/");
    const etag = String(first.headers.etag);
    for (const held of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const again = await ask(transport.port, "/", { headers: { "If-None-Match": held } });
      expect([again.status, again.body]).toEqual([304, ""]);
    }
    expect((await ask(transport.port, "/", { headers: { "If-None-Match": '"x"' } })).status).toBe(
      200,
    );
    const head = await ask(transport.port, "/", { method: "HEAD" });
    expect([head.status, head.body]).toEqual([200, ""]);
    expect(head.headers["content-length"]).toBe(String(FILES["index.html"].length));
  });

  it("finds the files of a build made under a running daemon", async () => {
    const { transport, clock, folder } = await runTransport({ files: FILES });
    await writeFile(join(folder, "web/assets/app-def456.js"), "later");
    await rm(join(folder, "web/sw.js"));
    await clock.advance(1_000);
    expect((await ask(transport.port, "/assets/app-def456.js")).body).toBe("later");
    expect((await ask(transport.port, "/sw.js")).status).toBe(404);
  });

  it("[G6] says who it is and how it fares", async () => {
    let isReady = false;
    const { transport } = await runTransport({ isReady: () => isReady });
    const { port, identity } = transport;
    const asked = await ask(port, "/identity");
    expect(identitySchema.parse(JSON.parse(asked.body))).toEqual(identity);
    expect(asked.headers["cache-control"]).toBe("no-store");
    expect(fromBase64Url(identity.publicKey)).toHaveLength(32);
    expect((await ask(port, "/healthz")).status).toBe(200);
    expect((await ask(port, "/readyz")).status).toBe(503);
    isReady = true;
    expect((await ask(port, "/readyz")).status).toBe(200);
    expect((await ask(port, "/metrics")).body).toContain("troupe_connections");
  });

  it("puts the security headers on every answer, and a CORS header on none", async () => {
    const { transport } = await runTransport({ files: FILES });
    const { port } = transport;
    const answers = [
      await ask(port, "/"),
      await ask(port, "/assets/app-abc123.js"),
      await ask(port, "/identity", { headers: { Origin: "http://evil.example" } }),
      await ask(port, "/missing"),
      await ask(port, "/", { method: "POST" }),
      await ask(port, "/", { method: "OPTIONS", headers: { Origin: "http://evil.example" } }),
      await ask(port, "/", { headers: { Host: "evil.example" } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 405, 405, 421]);
    for (const { headers } of answers) {
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
        expect(headers[name.toLowerCase()]).toBe(value);
      }
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    expect(answers[4]?.headers.allow).toBe("GET, HEAD");
  });

  it("puts them on answers to requests that are hardly any, too", async () => {
    const { transport } = await runTransport();
    const host = `Host: 127.0.0.1:${transport.port}`;
    const key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==";
    const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\n${key}`;
    const asked: [string, number][] = [
      ["nonsense\r\n\r\n", 400],
      ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 421],
      [`GET /x HTTP/1.1\r\n${host}\r\nExpect: wonders\r\nConnection: close\r\n\r\n`, 404],
      ["GET / HTTP/1.1\r\nHost: evil\r\nExpect: wonders\r\nConnection: close\r\n\r\n", 421],
      [
        `POST / HTTP/1.1\r\n${host}\r\nExpect: 100-continue\r\nContent-Length: 9\r\nConnection: close\r\n\r\n`,
        405,
      ],
      [`CONNECT evil.example:443 HTTP/1.1\r\n${host}\r\n\r\n`, 421],
      [`CONNECT /x HTTP/1.1\r\n${host}\r\n\r\n`, 405],
      [`GET / HTTP/1.1\r\n${host}\r\n${host}\r\nConnection: close\r\n\r\n`, 421],
      [`GET http://evil.example/ HTTP/1.1\r\n${host}\r\nConnection: close\r\n\r\n`, 421],
      [`GET /ws HTTP/1.1\r\n${host}\r\n${upgrade}\r\n\r\n`, 403],
      [`GET /ws HTTP/1.1\r\nHost: evil.example\r\n${upgrade}\r\n\r\n`, 421],
      [
        `GET /ws HTTP/1.1\r\n${host}\r\nOrigin: ${transport.origin}\r\nSec-WebSocket-Protocol: troupe.1\r\nSec-WebSocket-Version: 1\r\n${upgrade}\r\n\r\n`,
        400,
      ],
    ];
    for (const [text, status] of asked) {
      const answer = await askRaw(transport.port, text);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
        expect(answer).toContain(`${name}: ${value}\r\n`);
      }
    }
  });
});
