// The daemon that already runs on a data folder, asked over its Unix socket.

import type { Result } from "../../shared/protocol/methods.ts";
import type { Clock } from "../clock.ts";
import { TransportError } from "../transport/transport-error.ts";
import { connectUnixClient } from "../transport/unix-client.ts";

const ANSWER_TIMEOUT_MS = 2_000;

/** A fresh launch link; null if nobody listens there. Rejects if somebody does and does not answer. */
export async function askForLink(
  path: string,
  clock: Clock,
): Promise<Result<"daemon.link"> | null> {
  const client = await connect(path, clock);
  if (client === null) return null;
  try {
    return await client.call("daemon.link", {});
  } finally {
    client.close();
  }
}

async function connect(path: string, clock: Clock) {
  try {
    return await connectUnixClient({ path, clock, timeoutMs: ANSWER_TIMEOUT_MS });
  } catch (error) {
    if (error instanceof TransportError && error.code === "socket_unusable") return null;
    throw error;
  }
}
