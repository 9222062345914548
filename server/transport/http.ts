// Everything that is not the WebSocket: the app's files, who the daemon is, and how it fares. No
// route changes anything.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Identity } from "../../shared/protocol/handshake.ts";
import { type Log, traceOf } from "../log.ts";
import { type Gate, refuseRequest } from "./gate.ts";
import { SECURITY_HEADERS } from "./response-headers.ts";
import type { StaticFiles } from "./static-files.ts";

export interface HttpOptions {
  readonly gate: Gate;
  readonly files: StaticFiles;
  readonly identity: Identity;
  /** Prometheus text. */
  readonly metrics: () => string;
  /** False: alive, but not able to serve. */
  readonly isReady: () => boolean;
  readonly log: Log;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

const REFUSALS = {
  400: "This is no HTTP request that this daemon understands.",
  403: "This origin may not open a connection to this daemon.",
  404: "There is nothing here.",
  405: "Only GET and HEAD are answered here.",
  421: "This daemon does not answer to that name; on its own machine, open it as localhost.",
  500: "The daemon failed to answer; its log says more.",
  503: "The daemon is stopping or busy; try again soon.",
} as const;
export type RefusalStatus = keyof typeof REFUSALS;

export function answerRequests(options: HttpOptions) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    respond(options, request)
      .catch((error: unknown) => {
        options.log.error({ trace: traceOf(error) }, "A request met a bug");
        return refusalAnswer(500);
      })
      .then((answer) => send(request, response, answer));
  };
}

/** A whole response for a bare socket: an upgrade refused, or bytes that were no HTTP. */
export function rawRefusal(status: RefusalStatus): string {
  const { headers, body } = refusalAnswer(status);
  const all = {
    ...SECURITY_HEADERS,
    ...headers,
    "Content-Length": body.length,
    Connection: "close",
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Refused\r\n${lines.join("")}\r\n${body}`;
}

async function respond(options: HttpOptions, request: IncomingMessage): Promise<Answer> {
  const { method = "", url: target = "", rawHeaders, headers } = request;
  const refusal = refuseRequest(options.gate, { method, target, rawHeaders });
  if (refusal !== null) return refusalAnswer(refusal);
  const [pathname = ""] = target.split("?", 1);
  switch (pathname) {
    case "/identity":
      return json(options.identity);
    case "/healthz":
      return text(200, "ok\n");
    case "/readyz":
      return options.isReady() ? text(200, "ready\n") : text(503, "not ready\n");
    case "/metrics":
      return text(200, options.metrics(), "text/plain; version=0.0.4; charset=utf-8");
  }
  const file = await options.files.find(pathname, String(headers["accept-encoding"] ?? ""));
  if (file === null) return refusalAnswer(404);
  const fileHeaders = { ...file.headers, ETag: file.etag };
  return holds(headers["if-none-match"], file.etag)
    ? { status: 304, headers: fileHeaders, body: "" }
    : { status: 200, headers: fileHeaders, body: file.body };
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const { status, headers, body } = answer;
  const length = status === 304 ? {} : { "Content-Length": Buffer.byteLength(body) };
  response.writeHead(status, { ...SECURITY_HEADERS, ...headers, ...length });
  response.end(request.method === "HEAD" ? undefined : body);
}

/** `If-None-Match` compares weakly (RFC 9110, section 13.1.2). */
function holds(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((part) => [etag, "*"].includes(part.trim().replace(/^W\//, "")));
}

function text(status: number, body: string, type = "text/plain; charset=utf-8"): Answer {
  return { status, headers: { "Content-Type": type, "Cache-Control": "no-store" }, body };
}

function json(value: unknown): Answer {
  return text(200, `${JSON.stringify(value)}\n`, "application/json; charset=utf-8");
}

function refusalAnswer(status: RefusalStatus): Answer {
  const answer = text(status, `${REFUSALS[status]}\n`);
  return status === 405
    ? { ...answer, headers: { ...answer.headers, Allow: "GET, HEAD" } }
    : answer;
}
