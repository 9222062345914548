// Under which names a daemon that listens on `host` may be asked for: the gate's list.

import { isIP } from "node:net";

export interface Machine {
  readonly hostName: string;
  /** Addresses of the network interfaces. */
  readonly addresses: readonly string[];
}

const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];
const EVERYWHERE = ["0.0.0.0", "::"];

export const isLoopback = (host: string): boolean => LOOPBACK.includes(bracketed(host));

/** Names without a port, IPv6 in brackets, as a Host header has them. */
export function hostNames(host: string, machine: Machine): string[] {
  if (isLoopback(host)) return LOOPBACK;
  const own = EVERYWHERE.includes(host) ? [machine.hostName, ...machine.addresses] : [host];
  return [...new Set([...LOOPBACK, ...own.map(bracketed).map((name) => name.toLowerCase())])];
}

const bracketed = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);
