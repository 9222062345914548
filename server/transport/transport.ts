// Puts the ways in together: one HTTP server with the gate in front, the WebSockets, the Unix
// socket, and the connections they lead to.

import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { type DeviceId, toBase64Url, toFingerprint } from "../../shared/ids.ts";
import { CONNECTIONS_MAX } from "../../shared/limits.ts";
import type { KeyPair, RandomBytes } from "../../shared/noise/noise-crypto.ts";
import type { WireError } from "../../shared/protocol/errors.ts";
import type { Identity } from "../../shared/protocol/handshake.ts";
import { PROTOCOL_VERSION, SUBPROTOCOL } from "../../shared/protocol/version.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { Admissions } from "./admissions.ts";
import type { AcceptConnection, Admit, Peer } from "./connection.ts";
import { type Connections, makeConnections } from "./connections.ts";
import { type Asked, type Gate, makeGate, refuseRequest, refuseUpgrade } from "./gate.ts";
import { answerRequests, type RefusalStatus, rawRefusal } from "./http.ts";
import { listen } from "./listen.ts";
import { QueueBudget } from "./queue-budget.ts";
import { openStaticFiles, type StaticFiles } from "./static-files.ts";
import { listenUnixSocket, type UnixSocket } from "./unix-socket.ts";
import { WebSockets } from "./websocket.ts";
import type { Wire } from "./wire.ts";

const WEBSOCKET_PATH = "/ws";
const HEADERS_TIMEOUT_MS = 10_000;
/** How often Node looks for requests that are late; every 30 s unless told otherwise. */
const LATE_REQUESTS_CHECK_MS = 5_000;
const REFUSED_SOCKET_MAX_MS = 1_000;
const TCP_CONNECTIONS_MAX = 2_048;
const WILDCARD_HOSTS = ["0.0.0.0", "::"];

export interface TransportOptions {
  /** An address or name of this machine to listen on. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Further names the daemon answers to, `name` or `name:port`. */
  readonly names: readonly string[];
  /** The built app. */
  readonly filesDir: string;
  /** Null: no Unix socket. */
  readonly unixSocketPath: string | null;
  readonly daemonName: string;
  readonly daemonVersion: string;
  /** The daemon's identity. */
  readonly staticKeys: KeyPair;
  readonly randomBytes: RandomBytes;
  readonly admit: Admit;
  readonly accept: AcceptConnection;
  /** Prometheus text. */
  readonly metrics: () => string;
  readonly isReady: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** For tests; else those of shared/limits.ts. */
  readonly limits?: {
    readonly connectionsMax?: number;
    readonly strangersMax?: number;
    readonly queueMaxBytes?: number;
    readonly allQueuesMaxBytes?: number;
  };
}

export interface Transport {
  /** Where a browser on this machine finds the app. */
  readonly origin: string;
  readonly port: number;
  readonly identity: Identity;
  /** Admitted and local ones. */
  connections(): number;
  /** What all connections together hold back. */
  queuedBytes(): number;
  /** Tells a device's connections why, and closes them at once. */
  closeDevice(deviceId: DeviceId, error: WireError): void;
  /** Says `shuttingDown`, sends what is queued, closes. Resolves when all is closed, or cut at `graceMs`. */
  shutDown(graceMs: number): Promise<void>;
}

/** Throws `TransportError`: port_taken, port_forbidden, bad_host, socket_taken, socket_unusable. */
export async function startTransport(options: TransportOptions): Promise<Transport> {
  const { accept, clock, host, limits, log } = options;
  const files = await openStaticFiles(options.filesDir, clock);
  const budget = new QueueBudget(limits?.queueMaxBytes, limits?.allQueuesMaxBytes);
  const connections = makeConnections({ accept, budget, clock, log });
  const admissions = makeAdmissions(options);
  const webSockets = makeWebSockets(options, admissions, connections);
  const server = createServer({
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: LATE_REQUESTS_CHECK_MS,
    requireHostHeader: false,
  });
  server.maxConnections = TCP_CONNECTIONS_MAX;
  const port = await listen(server, host, options.port);
  const identity = identityOf(options);
  let isClosing = false;
  const isOpen = () => !isClosing;
  const own = { gate: gateOf(options, port), files, identity };
  serve(server, options, { ...own, webSockets, isOpen });
  const unixSocket = await listenLocally(options, connections, server);
  return {
    origin: originOf(host, port),
    port,
    identity,
    connections: connections.count,
    queuedBytes: () => budget.totalBytes,
    closeDevice(deviceId, error) {
      admissions.turnAway(deviceId, error);
      connections.expel(deviceId, error);
    },
    async shutDown(graceMs) {
      isClosing = true;
      const decided = admissions.close();
      unixSocket?.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      webSockets.closeStrangers();
      await connections.shutDown(graceMs);
      await decided;
      webSockets.destroyAll();
      server.closeAllConnections();
      await closed;
    },
  };
}

function makeAdmissions({ admit, daemonVersion, limits, log }: TransportOptions): Admissions {
  const connectionsMax = limits?.connectionsMax ?? CONNECTIONS_MAX;
  return new Admissions({ admit, daemonVersion, connectionsMax, log });
}

function makeWebSockets(
  options: TransportOptions,
  admissions: Admissions,
  connections: Connections,
): WebSockets {
  const { staticKeys, randomBytes, clock, limits, log } = options;
  const strangersMax = limits?.strangersMax ?? CONNECTIONS_MAX;
  const connect = (peer: Peer, wire: Wire) => connections.connect(peer, wire, true);
  return new WebSockets(
    { staticKeys, randomBytes, admissions, strangersMax, clock, log, connect },
    (socket) => refuseSocket(socket, 400, clock),
  );
}

interface Served {
  readonly gate: Gate;
  readonly files: StaticFiles;
  readonly identity: Identity;
  readonly webSockets: WebSockets;
  readonly isOpen: () => boolean;
}

function serve(server: Server, options: TransportOptions, served: Served): void {
  const { clock, log, metrics } = options;
  const { gate, files, identity, webSockets, isOpen } = served;
  const isReady = () => isOpen() && options.isReady();
  const answer = answerRequests({ gate, files, identity, metrics, isReady, log });
  // Left to Node, a request with `Expect` would get an answer of Node's own, past the gate.
  for (const event of ["request", "checkContinue", "checkExpectation"]) server.on(event, answer);
  server.on("connect", (request, socket) =>
    refuseSocket(socket, refuseRequest(gate, askedBy(request)) ?? 405, clock),
  );
  server.on("upgrade", (request, socket, head) => {
    const refusal = isOpen() ? refuseSocketRequest(gate, request, webSockets) : 503;
    if (refusal === null) webSockets.upgrade(request, socket, head);
    else refuseSocket(socket, refusal, clock);
  });
  server.on("clientError", (_error, socket) => refuseSocket(socket, 400, clock));
  server.on("error", (error) => log.error({ error: error.name }, "The HTTP server failed"));
}

/** The address it was told to listen on is a name of its own, unless it stands for all addresses. */
function gateOf({ host, names }: TransportOptions, port: number): Gate {
  return makeGate(port, WILDCARD_HOSTS.includes(host) ? names : [...names, bracketed(host)]);
}

async function listenLocally(
  { unixSocketPath, log }: TransportOptions,
  connections: Connections,
  server: Server,
): Promise<UnixSocket | null> {
  if (unixSocketPath === null) return null;
  try {
    const connect = (peer: Peer, wire: Wire) => connections.connect(peer, wire, false);
    return await listenUnixSocket({ path: unixSocketPath, connect, log });
  } catch (error) {
    server.close();
    server.closeAllConnections();
    throw error;
  }
}

const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

function originOf(host: string, port: number): string {
  const name = WILDCARD_HOSTS.includes(host) ? "127.0.0.1" : bracketed(host);
  return new URL(`http://${name}:${port}`).origin;
}

function identityOf({ staticKeys, daemonName, daemonVersion }: TransportOptions): Identity {
  const { publicKey } = staticKeys;
  return {
    name: daemonName,
    version: daemonVersion,
    protocol: PROTOCOL_VERSION,
    publicKey: toBase64Url(publicKey),
    fingerprint: toFingerprint(createHash("sha256").update(publicKey).digest()),
  };
}

function refuseSocketRequest(
  gate: Gate,
  request: IncomingMessage,
  webSockets: WebSockets,
): RefusalStatus | null {
  const { url, headers } = request;
  const refusal = refuseUpgrade(gate, askedBy(request));
  if (refusal !== null) return refusal;
  if (url !== WEBSOCKET_PATH) return 404;
  const protocols = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  if (!protocols.includes(SUBPROTOCOL)) return 400;
  return webSockets.makeRoom() ? null : 503;
}

const askedBy = ({ method = "", url: target = "", rawHeaders }: IncomingMessage): Asked => ({
  method,
  target,
  rawHeaders,
});

/** Answers on a bare socket and lets go of it, whether the peer reads or not. */
function refuseSocket(socket: Duplex, status: RefusalStatus, clock: Clock): void {
  socket.on("error", () => socket.destroy());
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(rawRefusal(status));
  const stop = clock.after(REFUSED_SOCKET_MAX_MS, () => socket.destroy());
  socket.once("close", stop);
}
