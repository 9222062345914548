// Who may even ask. Closes DNS rebinding (Host) and cross-site WebSocket hijacking (Origin). Pure:
// takes what the request says, gives the status to refuse it with, or null.

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
const HTTP_PORT = 80;

export interface Gate {
  /** `Host` values answered to, lower case. */
  readonly hosts: ReadonlySet<string>;
  /** `Origin` values that may open a WebSocket. */
  readonly origins: ReadonlySet<string>;
}

export interface Asked {
  readonly method: string;
  /** The request target as sent. */
  readonly target: string;
  /** Names and values in turn, as received, repeats included. */
  readonly rawHeaders: readonly string[];
}

/** `names`: further names of this daemon, each with a port of its own (`name:port`) or without. */
export function makeGate(port: number, names: readonly string[]): Gate {
  const hosts = new Set<string>();
  for (const name of [...LOOPBACK_NAMES, ...names]) {
    const host = name.toLowerCase();
    const ownPort = /^(?:[^:]+|\[[^\]]+\]):\d+$/.test(host);
    if (ownPort) hosts.add(host.replace(/:80$/, ""));
    if (ownPort || port === HTTP_PORT) hosts.add(host);
    if (!ownPort) hosts.add(`${host}:${port}`);
  }
  return { hosts, origins: new Set([...hosts].map((host) => `http://${host}`)) };
}

/** 421: not a name of ours. 405: neither GET nor HEAD. */
export function refuseRequest(gate: Gate, asked: Asked): 421 | 405 | null {
  const host = onlyValue(asked.rawHeaders, "host");
  // An absolute target names another host than the header may: no browser sends one to a server.
  const isOurs = host !== null && gate.hosts.has(host.toLowerCase());
  if (!isOurs || !asked.target.startsWith("/")) return 421;
  return asked.method === "GET" || asked.method === "HEAD" ? null : 405;
}

/** 403: no origin, or not one of ours. */
export function refuseUpgrade(gate: Gate, asked: Asked): 421 | 405 | 403 | null {
  const refusal = refuseRequest(gate, asked);
  if (refusal !== null) return refusal;
  if (asked.method !== "GET") return 405;
  const origin = onlyValue(asked.rawHeaders, "origin");
  return origin !== null && gate.origins.has(origin) ? null : 403;
}

/** Null if the header is missing, or there more than once. */
function onlyValue(rawHeaders: readonly string[], name: string): string | null {
  const values = rawHeaders.filter(
    (_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === name,
  );
  const [value] = values;
  return values.length === 1 && value !== undefined ? value : null;
}
